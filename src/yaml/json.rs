use super::write::Out;
/// x
pub fn write_json(_: &Out<'_>) -> String { todo!() }
