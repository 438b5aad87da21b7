//! How one Rust type stands in a column: its Arrow type, its builder, and how Polars hands it back.

use crate::protocol::message::{Text, Ts};
use arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder, StringDictionaryBuilder,
    TimestampMicrosecondBuilder, UInt32Builder, UInt64Builder,
};
use arrow::datatypes::{DataType, Field, TimeUnit, UInt32Type};
use polars::prelude::{Column, DataType as PolarsType, PolarsResult};
use std::sync::Arc;

/// The values of one column, in row order.
pub type Cells<'a, T> = Box<dyn Iterator<Item = T> + 'a>;

/// A type that can be a column. `Default` stands for a cell that a damaged file left null.
pub trait Cell: Sized + Default {
    type Builder: Default + Send;
    fn field(name: &str) -> Field;
    fn append(&self, builder: &mut Self::Builder);
    fn finish(builder: &mut Self::Builder) -> ArrayRef;
    fn read(column: &Column) -> PolarsResult<Cells<'_, Self>>;
}

/// An enumeration whose variants are words.
pub trait Word: Copy + Default + 'static {
    fn word(&self) -> &'static str;
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! plain_cell {
    ($ty:ty, $arrow:expr, $builder:ty, $polars:expr, $get:ident, |$v:ident| $to:expr, |$w:ident| $from:expr) => {
        impl Cell for $ty {
            type Builder = $builder;
            fn field(name: &str) -> Field {
                Field::new(name, $arrow, false)
            }
            fn append(&self, builder: &mut Self::Builder) {
                let $v = *self;
                builder.append_value($to);
            }
            fn finish(builder: &mut Self::Builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
            fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
                Ok(Box::new(<Option<$ty> as Cell>::read(column)?.map(Option::unwrap_or_default)))
            }
        }

        impl Cell for Option<$ty> {
            type Builder = $builder;
            fn field(name: &str) -> Field {
                Field::new(name, $arrow, true)
            }
            fn append(&self, builder: &mut Self::Builder) {
                builder.append_option(self.map(|$v| $to));
            }
            fn finish(builder: &mut Self::Builder) -> ArrayRef {
                Arc::new(builder.finish())
            }
            fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
                let values: Vec<Self> =
                    column.cast(&$polars)?.$get()?.iter().map(|cell| cell.map(|$w| $from)).collect();
                Ok(Box::new(values.into_iter()))
            }
        }
    };
}

plain_cell!(u64, DataType::UInt64, UInt64Builder, PolarsType::UInt64, u64, |v| v, |w| w);
plain_cell!(u32, DataType::UInt32, UInt32Builder, PolarsType::UInt32, u32, |v| v, |w| w);
plain_cell!(i64, DataType::Int64, Int64Builder, PolarsType::Int64, i64, |v| v, |w| w);
plain_cell!(f64, DataType::Float64, Float64Builder, PolarsType::Float64, f64, |v| v, |w| w);
plain_cell!(bool, DataType::Boolean, BooleanBuilder, PolarsType::Boolean, bool, |v| v, |w| w);

/// Times are always nullable: many captures have none.
#[derive(Default)]
pub struct TimeBuilder(TimestampMicrosecondBuilder);

impl Cell for Option<Ts> {
    type Builder = TimeBuilder;
    fn field(name: &str) -> Field {
        Field::new(name, DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), true)
    }
    fn append(&self, builder: &mut Self::Builder) {
        builder.0.append_option(self.map(|ts| ts.0));
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.0.finish().with_timezone("UTC"))
    }
    fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
        Ok(Box::new(<Option<i64> as Cell>::read(column)?.map(|cell| cell.map(Ts))))
    }
}

/// Text is dictionary-encoded: in a row group most of it repeats.
pub struct TextBuilder(StringDictionaryBuilder<UInt32Type>);

impl Default for TextBuilder {
    fn default() -> Self {
        Self(StringDictionaryBuilder::new())
    }
}

impl TextBuilder {
    fn finish_array(&mut self) -> ArrayRef {
        Arc::new(self.0.finish())
    }
}

fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
}

/// Hands equal neighbours and repeated values out as one allocation.
#[derive(Default)]
struct Interner(ahash::AHashSet<Text>);

impl Interner {
    fn text(&mut self, text: &str) -> Text {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let text: Text = text.into();
        if text.len() <= 256 {
            self.0.insert(text.clone());
        }
        text
    }
}

impl Cell for Option<Text> {
    type Builder = TextBuilder;
    fn field(name: &str) -> Field {
        Field::new(name, text_type(), true)
    }
    fn append(&self, builder: &mut Self::Builder) {
        builder.0.append_option(self.as_deref());
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish_array()
    }
    fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
        let strings = column.cast(&PolarsType::String)?;
        let mut interner = Interner::default();
        let values: Vec<Self> = strings.str()?.iter().map(|cell| cell.map(|text| interner.text(text))).collect();
        Ok(Box::new(values.into_iter()))
    }
}

impl Cell for Text {
    type Builder = TextBuilder;
    fn field(name: &str) -> Field {
        Field::new(name, text_type(), false)
    }
    fn append(&self, builder: &mut Self::Builder) {
        builder.0.append_value(self);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish_array()
    }
    fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
        Ok(Box::new(<Option<Text> as Cell>::read(column)?.map(Option::unwrap_or_default)))
    }
}

impl<W: Word> Cell for W {
    type Builder = TextBuilder;
    fn field(name: &str) -> Field {
        Field::new(name, text_type(), false)
    }
    fn append(&self, builder: &mut Self::Builder) {
        builder.0.append_value(self.word());
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish_array()
    }
    fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
        Ok(Box::new(<Option<W> as Cell>::read(column)?.map(Option::unwrap_or_default)))
    }
}

impl<W: Word> Cell for Option<W> {
    type Builder = TextBuilder;
    fn field(name: &str) -> Field {
        Field::new(name, text_type(), true)
    }
    fn append(&self, builder: &mut Self::Builder) {
        builder.0.append_option(self.map(|word| word.word()));
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        builder.finish_array()
    }
    fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
        let strings = column.cast(&PolarsType::String)?;
        let values: Vec<Self> = strings.str()?.iter().map(|cell| cell.and_then(W::from_word)).collect();
        Ok(Box::new(values.into_iter()))
    }
}

/// Lists of text are never null: an empty list is an empty list.
#[derive(Default)]
pub struct TextListBuilder(ListBuilder<StringBuilder>);

fn list_field(name: &str) -> Field {
    Field::new(name, DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))), false)
}

fn read_list<'a, T: 'a>(column: &Column, mut each: impl FnMut(&str) -> Option<T>) -> PolarsResult<Cells<'a, Vec<T>>> {
    let mut rows = Vec::with_capacity(column.len());
    for cell in column.list()?.series_iter() {
        let items = match &cell {
            Some(series) => series.str()?.iter().flatten().filter_map(&mut each).collect(),
            None => Vec::new(),
        };
        rows.push(items);
    }
    Ok(Box::new(rows.into_iter()))
}

impl Cell for Vec<Text> {
    type Builder = TextListBuilder;
    fn field(name: &str) -> Field {
        list_field(name)
    }
    fn append(&self, builder: &mut Self::Builder) {
        for item in self {
            builder.0.values().append_value(item);
        }
        builder.0.append(true);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.0.finish())
    }
    fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
        let mut interner = Interner::default();
        read_list(column, move |item| Some(interner.text(item)))
    }
}

impl<W: Word> Cell for Vec<W> {
    type Builder = TextListBuilder;
    fn field(name: &str) -> Field {
        list_field(name)
    }
    fn append(&self, builder: &mut Self::Builder) {
        for item in self {
            builder.0.values().append_value(item.word());
        }
        builder.0.append(true);
    }
    fn finish(builder: &mut Self::Builder) -> ArrayRef {
        Arc::new(builder.0.finish())
    }
    fn read(column: &Column) -> PolarsResult<Cells<'_, Self>> {
        read_list(column, W::from_word)
    }
}
