//! The codes of errors and warnings that the specification of CAL gives.

use std::fmt;

/// Declares the codes: the variant, its wire name and its meaning.
macro_rules! codes {
    ($($code:ident $name:literal $about:literal)+) => {
        /// The kind of a mistake in a statement, under the name of the specification.
        ///
        /// ```
        /// let error = grainstore_cal::parse("RECALL facts").unwrap_err();
        /// assert_eq!(error.code.as_str(), "CAL-E003");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`", $name, "`: ", $about, ".")] $code,)+
        }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$code,)+];

            /// Returns the name that programs see.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }
        }
    };
}

codes! {
    TooLong "CAL-E001" "a statement of more than 8,192 bytes"
    Unexpected "CAL-E002" "a word or sign that cannot stand there"
    UnknownType "CAL-E003" "a type of grain that does not exist"
    UnknownField "CAL-E004" "a field that does not exist"
    UnterminatedText "CAL-E005" "a text without its closing quote"
    BadNumber "CAL-E006" "a number that is none, or outside its range"
    TooDeep "CAL-E007" "more than three subqueries in each other"
    UnboundParameter "CAL-E008" "a parameter without a value"
    DuplicateParameter "CAL-E009" "a name that is bound twice"
    LimitTooLarge "CAL-E010" "a LIMIT above the maximum"
    SetTooLarge "CAL-E011" "an IN of more than 100 values"
    TooManyStages "CAL-E012" "more than five stages"
    TooManyOperands "CAL-E013" "more than five operands of set operations"
    Empty "CAL-E014" "a text without a statement"
    BadHash "CAL-E015" "an address that is none, or that several grains share"
    ReasonTooLong "CAL-E016" "a REASON of more than 500 characters"
    UnknownSetField "CAL-E017" "a field that SET does not take"
    NoReason "CAL-E018" "a change without a REASON"
    NoSet "CAL-E019" "a change without a SET"
    Incompatible "CAL-E020" "an operator or a value that does not fit the field"
    StageMismatch "CAL-E021" "a stage that does not take the field"
    NotBeliefs "CAL-E022" "SUBJECTS or OBJECTS of grains that are no beliefs"
    BudgetExceeded "CAL-E030" "a count or a budget above its maximum"
    Timeout "CAL-E031" "a statement that took too long"
    Superseded "CAL-E040" "a change of a grain that is no longer current"
    NoVersionBefore "CAL-E041" "a REVERT of the first version"
    NotEvolvable "CAL-E042" "a change of a grain that is no belief"
    ChangeQuota "CAL-E043" "more than 10 supersessions or 5 reverts in a minute"
    Tier1NotEnabled "CAL-E044" "a change where changes are not enabled"
    OtherNamespace "CAL-E045" "a token of a change that was prepared in another namespace"
    TargetNotFound "CAL-E046" "an address that no grain has"
    MissingField "CAL-E050" "an ADD without a field that the type requires"
    NotAddable "CAL-E051" "a type that ADD does not take"
    AddQuota "CAL-E052" "more than 20 ADDs in a minute"
    NotApplicable "CAL-E060" "clauses that exclude each other, or a field of another type"
    FieldWithoutType "CAL-E061" "a field of one type where no type is named"
    BadActionPhase "CAL-E062" "an unknown action_phase"
    BadGoalState "CAL-E063" "an unknown goal_state"
    BadConsentAction "CAL-E064" "an unknown consent_action"
    BadRecallPriority "CAL-E065" "an unknown recall_priority"
    BadEpistemicStatus "CAL-E066" "an unknown epistemic_status"
    InvalidUtf8 "CAL-E070" "bytes that are not UTF-8"
    BidiOverride "CAL-E071" "a text with characters that reorder what is shown"
    AssembleTimeout "CAL-E075" "an ASSEMBLE that took too long"
    AllSourcesFailed "CAL-E076" "an ASSEMBLE of which every source failed"
    BadStreamOption "CAL-E077" "an unknown option of STREAM"
    ChunkSize "CAL-E078" "a chunk_size outside 20 to 1,000"
    NoStream "CAL-E079" "a STREAM where none can be sent"
    NoText "CAL-E080" "a grain that a format has no text for"
    NoResumption "CAL-E081" "a stream that is asked to go on, which none does"
    Cancelled "CAL-E082" "an ASSEMBLE that was cancelled"
    TemplateNotFound "CAL-E085" "a template that does not exist"
    CannotExtendData "CAL-E086" "a template that extends the preset data"
    CannotExtendCustom "CAL-E087" "a template that extends a template"
    DuplicateTemplate "CAL-E088" "a second template of one name"
    TooManyTemplates "CAL-E089" "more than 50 templates in a namespace"
    UnknownVariable "CAL-E090" "a variable that templates do not have"
    UnbalancedSection "CAL-E091" "a section of a template that is not opened and closed once"
    TemplateTooLarge "CAL-E092" "a template of more than 4,096 bytes"
    TemplateTooDeep "CAL-E093" "more than five sections of a template in each other"
    InvalidTemplate "CAL-E094" "what is no template"
    DuplicateSection "CAL-E095" "a section that a template has twice"
    ConflictingSections "CAL-E096" "a template with ELEMENT_SUMMARY and ELEMENT_OMIT"
    Version "CAL-E100" "a version of CAL that is not known"
    UnknownRelation "CAL-W001" "a relation with the prefix mg: that the specification does not list"
    NoProfile "CAL-W002" "a field of a domain without its profile"
    UnknownPrefix "CAL-W003" "a prefix that is no domain, so that nothing matches"
    UnknownExtension "CAL-W004" "an option that is not supported and has no effect"
    AutoToon "CAL-W005" "a context in TOON, since its budget is nearly used"
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
