//! Which texts are jq expressions, seen through `int:response_mapping` (OMS A.7).

use grainstore::codec::Profile;
use grainstore::grain::{Draft, Time};

fn is_expression(text: &str) -> bool {
    let draft = Draft::event("a")
        .created_at(Time::from_ms(1))
        .tag("profile:integration")
        .set("int:response_mapping", text);
    match draft.finish(Profile::Extended) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.code(), "ERR_SCHEMA");
            false
        }
    }
}

#[test]
fn expressions_of_the_jq_manual_are_accepted() {
    for text in ACCEPTED.lines().chain(["# why\n.a # end", " .a\t|\r\n.b"]) {
        assert!(is_expression(text), "{text}");
    }
}

#[test]
fn what_is_no_expression_is_refused() {
    for text in REFUSED.lines().chain(["", "  ", "# only a comment"]) {
        assert!(!is_expression(text), "{text}");
    }
}

#[test]
fn nesting_is_bounded_whatever_nests() {
    for piece in PREFIXES.lines() {
        // No panic and no overflow; a beginning without its end is never accepted.
        let text = piece.repeat(500_000 / piece.len());
        assert!(!is_expression(&text), "{piece}");
    }
    let nested = |depth| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(is_expression(&nested(60)));
    assert!(!is_expression(&nested(80)));
    assert!(is_expression(&format!("{}1", ". as $x | ".repeat(1000))));
}

const ACCEPTED: &str = r#".
..
.data.items
.foo?
.["foo"]
."foo"."bar"?
.[0]
.[-1]
.[2:4]
.[:3]
.[2:]
.[]
.[]?
.a.[1]
. .a
.foo, .bar
[.user, .projects[]]
[.[] | . * 2]
{user, title: .titles[]}
{(.user): .titles}
{$x, if: 1, "a b": 2, @base64 "x": 3, "y\(1)"}
{$__loc__}
{a: 1 + 2 | . * 3, b}
.a + .b - 1
{} + {a: 1}
10 / . * 3 % 2
map(select(. >= 2))
map({id, n: .name})
if . == 0 then "zero" elif . == 1 then "one" else "many" end
if . then 1 end | .
(42 and true) or false
.a // 42
.a?//1
try error("\($__loc__)") catch .
try -1
[.[] | try tonumber]
"x\(.a + ("y\(.b)"))z \u00e9 \n"
@csv
@uri "https://x?q=\(.q)"
.[] as [$a, $b] | {a: $a, b: $b}
. as {a: $x, b: [$y, $z]} | $x
.[] as {$a, b: [$c]} ?// [$a] | $a
. as {("a"): $x, $y: [$z]} | $x
reduce .[] as [$i, $j] (0; . + $i * $j)
foreach .[] as $x (0; . + $x; [$x, .])
label $out | foreach .[] as $i (0; . + 1; if . > 2 then ., break $out else . end)
def f: def g: 3; g; f
def addv($f; g): map(. + $f) | g; addv(.[0]; .)
lib::f(1; 2)
$lib::data
$ENV.PATH
(.posts[] | .title) |= ascii_upcase
.a += 1 | .b //= 2
1.5e-3
.5
1.
not
.a == 1 and .b == 2
1 as $x | 2 as $y | [$x, $y]
-(1)
-.a
[]
{}
[[]]
.and
{and: .or}
.. | .a? "#;

const REFUSED: &str = r#".data.items[
.a]
(
()
{
[1
{a:}
{a: 1,}
{1: 2}
{(.a)}
.a.
...
.a..b
1.a
.[1:2:3]
.[:]
1 +
| .
. |
1 == 1 == 1
.a = 1 = 2
1 == 2 + 3 == 4
if . then 1
if . else 2 end
then
reduce .[] as $x (0)
foreach .[] as $x (0; 1; 2; 3)
reduce .[] (0; 1)
def f 1; f
def f: 1
def if: 1; .
f(
f()
f(1,)
$
$1
@
"
"\q"
"\u12"
"\(1"
"\
. as x | 1
. as {a} | 1
. as $x
label x | 1
label $x
break x
try
1e
1 2
a b
&
§
lib::
import "a" as a; .
__loc__
SELECT a FROM b
.a!
and
.a and"#;

const PREFIXES: &str = r#"(
[
{a:
-(
try 
if 
def f: 
f(
.[
"\(
reduce 
foreach 
. as [
. as {a:
if . then 1 elif 
label $x | 
- 
.|"#;
