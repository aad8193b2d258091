//! The grammar of jq 1.7, as far as it decides whether a text is an expression (OMS A.7).
//!
//! Nothing is evaluated and no tree is built. Names are not resolved, and modules are not part of
//! an expression. Nesting is bounded, so a hostile text cannot exhaust the stack. The words and
//! symbols are in `lexer`.
//!
//! The parser of jaq is not used: it refuses valid expressions (`?//`, `.5`, `1.`) and accepts
//! others that jq refuses (`then`, `1 == 1 == 1`).

mod lexer;

use lexer::Binding;

/// Returns whether a text is a jq expression.
pub(super) fn is_expression(text: &str) -> bool {
    let mut parser = Parser {
        rest: text,
        depth_left: DEPTH_MAX,
    };
    let is_read = parser.expression(Commas::Join).is_some();
    parser.skip_space();
    is_read && parser.rest.is_empty()
}

/// Inside an object a comma ends the value.
#[derive(Clone, Copy, PartialEq)]
enum Commas {
    Join,
    End,
}

struct Parser<'a> {
    rest: &'a str,
    depth_left: u32,
}

impl<'a> Parser<'a> {
    /// Reads operands and the operators between them, with their prefixes: all of one level.
    fn expression(&mut self, commas: Commas) -> Option<()> {
        self.nested(|parser| {
            // Assignments and comparisons do not associate: `1 == 1 == 1` is no expression.
            let (mut is_assigned, mut is_compared) = (false, false);
            loop {
                parser.operand()?;
                let Some(binding) = parser.operator(commas) else {
                    return Some(());
                };
                let repeats = match binding {
                    Binding::Assign => is_assigned,
                    Binding::Compare => is_compared,
                    _ => false,
                };
                if repeats {
                    return None;
                }
                is_assigned = match binding {
                    Binding::Assign => true,
                    binding => is_assigned && binding > Binding::Assign,
                };
                is_compared = match binding {
                    Binding::Compare => true,
                    binding => is_compared && binding > Binding::Compare,
                };
            }
        })
    }

    /// Reads one operand; definitions, labels and bindings only stand before one.
    fn operand(&mut self) -> Option<()> {
        loop {
            if self.keyword("def") {
                self.definition()?;
            } else if self.keyword("label") {
                self.variable()?;
                self.expect("|")?;
            } else {
                self.attempt()?;
                if !self.keyword("as") {
                    return Some(());
                }
                self.patterns()?;
                self.expect("|")?;
            }
        }
    }

    fn definition(&mut self) -> Option<()> {
        self.name()?;
        if self.symbol("(") {
            loop {
                if self.starts('$') {
                    self.variable()?;
                } else {
                    self.name()?;
                }
                if !self.symbol(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        self.expression(Commas::Join)?;
        self.expect(";")
    }

    fn attempt(&mut self) -> Option<()> {
        while self.symbol("-") {}
        if !self.keyword("try") {
            return self.term();
        }
        self.nested(|parser| {
            parser.attempt()?;
            if parser.keyword("catch") {
                parser.attempt()?;
            }
            Some(())
        })
    }

    fn term(&mut self) -> Option<()> {
        self.primary()?;
        loop {
            if self.symbol("[") {
                self.index()?;
            } else if self.starts_field() {
                self.field();
            } else if self.starts('.') {
                self.expect(".")?;
                if self.symbol("[") {
                    self.index()?;
                } else {
                    self.string()?;
                }
            } else if !self.symbol("?") {
                return Some(());
            }
        }
    }

    fn primary(&mut self) -> Option<()> {
        self.skip_space();
        let mut chars = self.rest.chars();
        match (chars.next(), chars.next()) {
            (Some('"'), _) => self.string(),
            (Some('$'), _) => self.variable(),
            (Some('@'), _) => self.format(),
            (Some('0'..='9'), _) | (Some('.'), Some('0'..='9')) => self.number(),
            (Some('.'), Some('.')) => self.expect(".."),
            (Some('.'), _) if self.starts_field() => {
                self.field();
                Some(())
            }
            (Some('.'), _) => {
                self.expect(".")?;
                if self.starts('"') {
                    self.string()?;
                }
                Some(())
            }
            (Some('('), _) => self.between("(", ")"),
            (Some('['), _) if self.array_is_empty() => Some(()),
            (Some('['), _) => self.between("[", "]"),
            (Some('{'), _) => self.object(),
            _ if self.keyword("if") => self.condition(),
            _ if self.keyword("reduce") => self.fold(2, 2),
            _ if self.keyword("foreach") => self.fold(2, 3),
            _ if self.keyword("break") => self.variable(),
            _ => self.call(),
        }
    }

    fn array_is_empty(&mut self) -> bool {
        let start = self.rest;
        let is_empty = self.symbol("[") && self.symbol("]");
        if !is_empty {
            self.rest = start;
        }
        is_empty
    }

    fn between(&mut self, open: &str, close: &'static str) -> Option<()> {
        self.expect(open)?;
        self.expression(Commas::Join)?;
        self.expect(close)
    }

    /// Reads an index or a slice, behind its bracket.
    fn index(&mut self) -> Option<()> {
        if self.symbol("]") {
            return Some(());
        }
        if self.symbol(":") {
            self.expression(Commas::Join)?;
            return self.expect("]");
        }
        self.expression(Commas::Join)?;
        if self.symbol(":") && !self.starts(']') {
            self.expression(Commas::Join)?;
        }
        self.expect("]")
    }

    fn condition(&mut self) -> Option<()> {
        loop {
            self.expression(Commas::Join)?;
            if !self.keyword("then") {
                return None;
            }
            self.expression(Commas::Join)?;
            if !self.keyword("elif") {
                break;
            }
        }
        if self.keyword("else") {
            self.expression(Commas::Join)?;
        }
        self.keyword("end").then_some(())
    }

    /// Reads a reduce or foreach, whose parts are separated by semicolons.
    fn fold(&mut self, least: u32, most: u32) -> Option<()> {
        self.nested(Self::term)?;
        if !self.keyword("as") {
            return None;
        }
        self.patterns()?;
        self.expect("(")?;
        let mut parts = 0;
        loop {
            self.expression(Commas::Join)?;
            parts += 1;
            if !self.symbol(";") {
                break;
            }
        }
        self.expect(")")?;
        (least..=most).contains(&parts).then_some(())
    }

    fn call(&mut self) -> Option<()> {
        self.name()?;
        while let Some(rest) = self.rest.strip_prefix("::") {
            self.rest = rest;
            self.name()?;
        }
        if self.symbol("(") {
            loop {
                self.expression(Commas::Join)?;
                if !self.symbol(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        Some(())
    }

    fn object(&mut self) -> Option<()> {
        self.expect("{")?;
        if self.symbol("}") {
            return Some(());
        }
        loop {
            let needs_value = self.starts('(');
            self.key()?;
            if self.symbol(":") {
                self.expression(Commas::End)?;
            } else if needs_value {
                return None;
            }
            if !self.symbol(",") {
                return self.expect("}");
            }
        }
    }

    /// Reads the key of an object or of an object pattern; keywords are keys, too.
    fn key(&mut self) -> Option<()> {
        self.skip_space();
        match self.rest.chars().next() {
            Some('(') => self.between("(", ")"),
            Some('"') => self.string(),
            Some('@') => self.format(),
            Some('$') => self.variable(),
            _ => self.word().map(drop),
        }
    }

    fn patterns(&mut self) -> Option<()> {
        self.pattern()?;
        while self.symbol("?//") {
            self.pattern()?;
        }
        Some(())
    }

    fn pattern(&mut self) -> Option<()> {
        self.nested(|parser| {
            if parser.symbol("[") {
                loop {
                    parser.pattern()?;
                    if !parser.symbol(",") {
                        return parser.expect("]");
                    }
                }
            }
            if !parser.symbol("{") {
                return parser.variable();
            }
            loop {
                let binds = parser.starts('$');
                parser.key()?;
                if parser.symbol(":") {
                    parser.pattern()?;
                } else if !binds {
                    return None;
                }
                if !parser.symbol(",") {
                    return parser.expect("}");
                }
            }
        })
    }

    fn string(&mut self) -> Option<()> {
        self.expect("\"")?;
        loop {
            let at = self.rest.find(['"', '\\'])?;
            let mut chars = self.rest.get(at..).unwrap_or_default().chars();
            let is_end = chars.next() == Some('"');
            self.rest = chars.as_str();
            if is_end {
                return Some(());
            }
            let escape = chars.next()?;
            match escape {
                '(' => self.between("(", ")")?,
                'u' => {
                    let is_hex = chars
                        .by_ref()
                        .take(4)
                        .filter(char::is_ascii_hexdigit)
                        .count()
                        == 4;
                    if !is_hex {
                        return None;
                    }
                    self.rest = chars.as_str();
                }
                '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => self.rest = chars.as_str(),
                _ => return None,
            }
        }
    }

    fn format(&mut self) -> Option<()> {
        self.expect("@")?;
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')?;
        if self.starts('"') {
            self.string()?;
        }
        Some(())
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.depth_left = self.depth_left.checked_sub(1)?;
        read(self)?;
        self.depth_left = self.depth_left.saturating_add(1);
        Some(())
    }
}

const DEPTH_MAX: u32 = 64;
