//! Floor to be filled.
