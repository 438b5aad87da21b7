//! Members of `report.json` that describe themselves: one definition gives the serialised text and its JSON Schema.

use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A type with a JSON Schema. Objects put theirs among `definitions` and answer with a reference.
pub trait Described: Serialize {
    fn schema(definitions: &mut Map<String, Value>) -> Value;
}

macro_rules! plain {
    ($($ty:ty => $schema:tt),+ $(,)?) => {
        $(impl Described for $ty {
            fn schema(_: &mut Map<String, Value>) -> Value {
                json!($schema)
            }
        })+
    };
}

plain! {
    String => {"type": "string"},
    &'static str => {"type": "string"},
    bool => {"type": "boolean"},
    u64 => {"type": "integer", "minimum": 0},
    u32 => {"type": "integer", "minimum": 0},
    f64 => {"type": "number"},
    Never => {"type": "null"},
}

/// A member that is always null: an analysis this version does not make.
pub struct Never;

impl Serialize for Never {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<T: Described> Described for Option<T> {
    fn schema(definitions: &mut Map<String, Value>) -> Value {
        let mut schema = T::schema(definitions);
        match schema.get_mut("type") {
            Some(kind) if kind.is_string() => {
                *kind = json!([kind.take(), "null"]);
                schema
            }
            _ => json!({"anyOf": [schema, {"type": "null"}]}),
        }
    }
}

impl<T: Described> Described for Vec<T> {
    fn schema(definitions: &mut Map<String, Value>) -> Value {
        json!({"type": "array", "items": T::schema(definitions)})
    }
}

impl<K: Serialize, T: Described> Described for BTreeMap<K, T> {
    fn schema(definitions: &mut Map<String, Value>) -> Value {
        json!({"type": "object", "additionalProperties": T::schema(definitions)})
    }
}

/// Defines an object: every member with its type and, where the name does not say it all, its documentation.
macro_rules! object {
    ($(#[doc = $doc:literal])* $name:ident { $( $(#[doc = $mdoc:literal])* $member:ident $(as $rename:literal)? : $ty:ty ),+ $(,)? }) => {
        $(#[doc = $doc])*
        #[derive(serde::Serialize)]
        pub struct $name {
            $( $(#[doc = $mdoc])* $(#[serde(rename = $rename)])? pub $member: $ty, )+
        }

        impl $crate::report::json::described::Described for $name {
            fn schema(definitions: &mut serde_json::Map<String, serde_json::Value>) -> serde_json::Value {
                if !definitions.contains_key(stringify!($name)) {
                    // Reserves the name, so that an object may contain itself.
                    definitions.insert(stringify!($name).to_owned(), serde_json::Value::Null);
                    let mut properties = serde_json::Map::new();
                    let mut required: Vec<&str> = Vec::new();
                    $({
                        let name: &str = [$($rename,)? stringify!($member)][0];
                        let mut schema = <$ty as $crate::report::json::described::Described>::schema(definitions);
                        let text: &str = concat!($($mdoc),*);
                        if !text.is_empty()
                            && let Some(schema) = schema.as_object_mut()
                        {
                            schema.insert("description".to_owned(), text.trim().into());
                        }
                        properties.insert(name.to_owned(), schema);
                        required.push(name);
                    })+
                    let mut object = serde_json::json!({"type": "object", "properties": properties, "required": required});
                    let text: &str = concat!($($doc),*);
                    if !text.is_empty() {
                        object["description"] = text.trim().into();
                    }
                    definitions.insert(stringify!($name).to_owned(), object);
                }
                serde_json::json!({"$ref": concat!("#/$defs/", stringify!($name))})
            }
        }
    };
}

pub(in crate::report::json) use object;
