//! Values that the writer hid.

use super::Reader;
use crate::protocol::elicitation::{Action, Content as Elicited};
use crate::protocol::message::{Captured, Kind, RequestBody, Shape};
use crate::protocol::prompt::ArgumentsAs;

impl Reader<'_, '_> {
    /// Takes back values in whose place the writer put something else. One hidden argument says nothing about what was
    /// sent, so that none of its call is judged.
    pub(super) fn hide(&mut self, before: usize, captured: Captured) {
        let words = &self.description.placeholders;
        if words.is_empty() || (!self.description.redacted.is_empty() && captured == Captured::Full) {
            return;
        }
        let hidden = |text: &str| words.iter().any(|word| text.contains(&**word));
        for message in self.sink.messages_from(before) {
            let hit = match &mut message.kind {
                Kind::Request { request, .. } => match &mut request.body {
                    RequestBody::PromptsGet { arguments, .. }
                        if arguments.entries.iter().any(|(_, value)| hidden(&value.text)) =>
                    {
                        arguments.shape = ArgumentsAs::NotCaptured;
                        arguments.entries.clear();
                        true
                    }
                    RequestBody::Complete(completion) if completion.typed.as_deref().is_some_and(hidden) => {
                        completion.typed = None;
                        true
                    }
                    _ => false,
                },
                Kind::Result { answer, .. } => match &mut answer.shape {
                    Shape::Elicitation(elicited) => match &elicited.content {
                        Elicited::Object { json, .. } if hidden(json) => {
                            elicited.action = Action::NotCaptured;
                            elicited.content = Elicited::Absent;
                            true
                        }
                        _ => false,
                    },
                    _ => false,
                },
                _ => false,
            };
            if hit {
                message.captured = Captured::Redacted;
            }
        }
    }
}
