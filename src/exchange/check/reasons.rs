//! From the errors of a JSON Schema validator to our reasons, field by field.

use super::schema::Compiled;
use crate::protocol::message::Text;
use crate::protocol::prompt::{JsonType, Value};
use crate::schema::Reason;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType as SchemaType, ValidationError, Validator};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Reasons, in order of precedence, each once.
pub struct Found {
    /// Those that belong to no field.
    pub whole: Vec<Reason>,
    /// One entry for each of [`Compiled::names`], in their order.
    pub fields: Vec<Vec<Reason>>,
    /// A keyword could not be evaluated within its bounds.
    pub undecided: bool,
}

impl Compiled {
    /// Declared fields, required ones that are not declared, undeclared keys that were sent; each once.
    pub fn names<'a>(&'a self, members: &'a [(Text, Value)]) -> impl Iterator<Item = &'a Text> {
        let declared = |name: &Text| self.properties.iter().any(|property| property.name == *name);
        let undeclared = self.required.iter().enumerate().filter(move |(at, name)| {
            !declared(name) && !self.required.iter().take(*at).any(|earlier| earlier == *name)
        });
        let unknown = members.iter().map(|(name, _)| name);
        let unknown = unknown.filter(move |name| !declared(name) && !self.required.contains(name));
        let declared = self.properties.iter().map(|property| &property.name);
        declared.chain(undeclared.map(|(_, name)| name)).chain(unknown)
    }
}

pub fn of(validator: &Validator, compiled: &Compiled, members: &[(Text, Value)]) -> Found {
    let names: Vec<&Text> = compiled.names(members).collect();
    let place: ahash::AHashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (&***name, at)).collect();
    let mut sorter = Sorter { place, whole: BTreeSet::new(), fields: vec![BTreeSet::new(); names.len()] };
    for (name, _) in members {
        if !compiled.properties.iter().any(|property| property.name == *name) {
            sorter.add(Some(name), Reason::UnknownKey);
        }
    }
    let instance = instance(members);
    let mut undecided = false;
    for error in validator.iter_errors(&instance) {
        undecided |= !sorter.sort(&error);
    }
    Found {
        whole: sorter.whole.into_iter().collect(),
        fields: sorter.fields.into_iter().map(|reasons| reasons.into_iter().collect()).collect(),
        undecided,
    }
}

struct Sorter<'a> {
    place: ahash::AHashMap<&'a str, usize>,
    whole: BTreeSet<Reason>,
    fields: Vec<BTreeSet<Reason>>,
}

impl Sorter<'_> {
    fn add(&mut self, field: Option<&str>, reason: Reason) {
        let place = field.and_then(|field| self.place.get(field)).copied();
        match place.and_then(|at| self.fields.get_mut(at)) {
            Some(reasons) => reasons.insert(reason),
            None => self.whole.insert(reason),
        };
    }

    /// False where the keyword could not be evaluated.
    fn sort(&mut self, error: &ValidationError<'_>) -> bool {
        let field = field(error.instance_path().as_str());
        match (error.kind(), &field) {
            (ValidationErrorKind::Required { property }, None) => self.add(property.as_str(), Reason::MissingRequired),
            // Found already, and named one by one.
            (
                ValidationErrorKind::AdditionalProperties { .. } | ValidationErrorKind::UnevaluatedProperties { .. },
                None,
            ) => {}
            (ValidationErrorKind::PropertyNames { error }, None) => {
                self.add(error.instance().as_str(), Reason::UnknownKey);
            }
            (kind, field) => {
                let Some(reasons) = reasons(kind, error.instance()) else { return false };
                for reason in reasons {
                    self.add(field.as_deref(), reason);
                }
            }
        }
        true
    }
}

/// The field an error belongs to: the first part of its JSON pointer (RFC 6901). `None` for the whole content.
fn field(pointer: &str) -> Option<String> {
    let first = pointer.strip_prefix('/')?.split('/').next()?;
    Some(first.replace("~1", "/").replace("~0", "~"))
}

/// `None` where the keyword could not be evaluated. Keywords outside the elicitation subset are counted under the
/// reason that is nearest to what they demand.
fn reasons(kind: &ValidationErrorKind, instance: &Json) -> Option<Vec<Reason>> {
    use ValidationErrorKind as Kind;
    Some(vec![match kind {
        Kind::Type { kind } => wrong_type(kind, instance),
        Kind::Minimum { .. } | Kind::ExclusiveMinimum { .. } => Reason::BelowMinimum,
        Kind::Maximum { .. } | Kind::ExclusiveMaximum { .. } => Reason::AboveMaximum,
        Kind::MultipleOf { multiple_of } if multiple_of.fract() == 0.0 && !whole_number(instance) => {
            Reason::NotAnInteger
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => return nearest_branch(context),
        Kind::Enum { .. } | Kind::Constant { .. } | Kind::OneOfMultipleValid { .. } | Kind::Not { .. } => {
            Reason::NotInEnum
        }
        Kind::MinLength { .. } => Reason::TooShort,
        Kind::MaxLength { .. } => Reason::TooLong,
        Kind::Pattern { .. } => Reason::Pattern,
        Kind::MultipleOf { .. }
        | Kind::Format { .. }
        | Kind::ContentEncoding { .. }
        | Kind::ContentMediaType { .. }
        | Kind::FromUtf8 { .. }
        | Kind::Custom { .. } => Reason::BadFormat,
        Kind::MinItems { .. } | Kind::Contains => Reason::TooFewItems,
        Kind::MaxItems { .. } | Kind::AdditionalItems { .. } | Kind::UnevaluatedItems { .. } | Kind::UniqueItems => {
            Reason::TooManyItems
        }
        Kind::Required { .. } | Kind::MinProperties { .. } => Reason::MissingRequired,
        Kind::AdditionalProperties { .. }
        | Kind::UnevaluatedProperties { .. }
        | Kind::PropertyNames { .. }
        | Kind::MaxProperties { .. }
        | Kind::FalseSchema => Reason::UnknownKey,
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } | Kind::Referencing(_) => return None,
    }])
}

fn wrong_type(kind: &TypeKind, instance: &Json) -> Reason {
    let expects = |wanted: SchemaType| match kind {
        TypeKind::Single(one) => *one == wanted,
        TypeKind::Multiple(several) => several.contains(wanted),
    };
    let container = instance.is_object() || instance.is_array();
    if instance.is_number() && expects(SchemaType::Integer) {
        Reason::NotAnInteger
    } else if container && !expects(SchemaType::Object) && !expects(SchemaType::Array) {
        Reason::NestedValue
    } else {
        Reason::WrongType
    }
}

fn whole_number(instance: &Json) -> bool {
    instance.as_f64().is_none_or(|number| number.fract() == 0.0)
}

/// Of branches none of which fits, the first whose type fits says what is wrong (a nullable text that is too long is
/// too long); constants are an enumeration.
fn nearest_branch(branches: &[Vec<ValidationError<'static>>]) -> Option<Vec<Reason>> {
    let type_fits = |reasons: &Vec<Reason>| {
        !reasons.iter().any(|reason| matches!(reason, Reason::WrongType | Reason::NotAnInteger | Reason::NestedValue))
    };
    let mut found = Vec::with_capacity(branches.len());
    for branch in branches {
        let mut of_branch = Vec::new();
        for error in branch {
            of_branch.extend(reasons(error.kind(), error.instance())?);
        }
        found.push(of_branch);
    }
    let nearest = found.iter().position(type_fits).unwrap_or(0);
    Some(if found.is_empty() { vec![Reason::NotInEnum] } else { found.swap_remove(nearest) })
}

/// The content as the validator wants it. What it cannot hold stands as something of the same type: nesting beyond
/// its limit is an empty container, a number beyond the range of f64 the end of that range.
fn instance(members: &[(Text, Value)]) -> Json {
    let value = |value: &Value| match value.json_type {
        JsonType::String => Json::String(value.text.to_string()),
        JsonType::Null => Json::Null,
        JsonType::Boolean => Json::Bool(&*value.text == "true"),
        JsonType::Number => serde_json::from_str(&value.text)
            .unwrap_or_else(|_| Json::from(if value.text.starts_with('-') { f64::MIN } else { f64::MAX })),
        JsonType::Array => serde_json::from_str(&value.text).unwrap_or_else(|_| Json::Array(Vec::new())),
        JsonType::Object => serde_json::from_str(&value.text).unwrap_or_else(|_| Json::Object(Default::default())),
    };
    Json::Object(members.iter().map(|(name, sent)| (name.to_string(), value(sent))).collect())
}
