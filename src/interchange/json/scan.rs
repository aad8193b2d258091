/// Follows brackets and strings to the end of a value.
#[derive(Default)]
pub(super) struct Scan {
    depth: u32,
    pub(super) deepest: u32,
    in_string: bool,
    is_escape: bool,
    is_over: bool,
}

impl Scan {
    /// Returns whether a byte stands after the value.
    pub(super) const fn is_past(&mut self, byte: u8) -> bool {
        if self.is_over {
            return true;
        }
        if self.in_string {
            match byte {
                _ if self.is_escape => self.is_escape = false,
                b'\\' => self.is_escape = true,
                b'"' => {
                    self.in_string = false;
                    self.is_over = self.depth == 0;
                }
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                if self.depth > self.deepest {
                    self.deepest = self.depth;
                }
            }
            b'}' | b']' if self.depth == 0 => return true,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_over = self.depth == 0;
            }
            b',' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => return true,
            _ => {}
        }
        false
    }
}
