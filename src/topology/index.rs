//! Defines ids: positions in lists, by which parts of a topology refer to each other without text.

/// Defines types of ids, each a position in one list.
macro_rules! indices {
    ($($(#[$about:meta])* $name:ident)*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        pub struct $name(u32);

        impl $name {
            pub(crate) fn new(index: usize) -> Self {
                Self(index as u32)
            }

            /// The position in the list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

pub(crate) use indices;
