//! The mistakes: exit code, command line, what the message must name, and stdin after `<<`.
//!
//! `$A` is the address of the one stored grain; words in the third column are separated by commas.

pub(super) const MISTAKES: &str = r#"
# Names of other tools.
2 | add tea | 'remember', 'put'
2 | save tea | 'remember'
2 | store tea | 'remember'
2 | cat abcd | 'show', 'get'
2 | view abcd | 'show'
2 | edit abcd | 'correct'
2 | update abcd | 'correct', 'supersede'
2 | set a=b | 'correct'
2 | revert | 'undo'
2 | log | 'history', 'list'
2 | rm abcd | 'delete'
2 | remove abcd | 'delete'
2 | forget ana | 'delete', 'user'
2 | verify | 'check', 'validate'
2 | find tea | 'search'
2 | grep tea | 'search'
2 | ask tea | 'recall'
2 | select | 'query'
2 | load x.json | 'import'
2 | dump | 'export'
2 | info | 'stats'
2 | health | 'doctor', 'check'
2 | migrate | 'upgrade'
2 | vacuum | 'compact'
2 | repair | 'check'
2 | salvage | 'recover'
2 | server | 'serve'
2 | watch | 'tail'
2 | new | 'init'
2 | chat | 'sessions'
2 | users | 'ls', 'user'
2 | tags | 'ls'
2 | serach tea | 'search'
2 | ipmort x.json | 'import'
# Arguments that are missing, or one too many.
2 | get | <ADDRESS>
2 | put | <FILE>
2 | remember | <TEXT>
2 | import | <PATH>
2 | supersede $A | <FILE>
2 | export -o x | --format
2 | delete $A | --reason
2 | delete $A --reason x | --authority
2 | delete --reason x --authority y | <ADDRESS>
2 | delete $A --reason x --authority y | --yes
2 | hold place $A --authority x | --reason
2 | remember tea --subject ana | --relation
2 | remember tea --if-same refuse | --relation
2 | sessions ana | 'ana'
2 | stats --jsn | '--json'
2 | doctor copy | 'copy'
2 | list --format xml | 'xml', markdown
2 | list --long --fields type | '--fields
2 | query --by-observer --format csv | '--format
2 | history $A --thread --fields type | '--fields
2 | stats --color red | 'red', always
2 | stats --wait soon | 'soon'
# Values.
2 | remember tea --subject ana --relation likes --confidence 2 | confidence, 0.0 to 1.0
2 | remember tea --subject ana --relation likes --confidence much | 'much', --confidence
2 | remember tea --set nothing | FIELD=VALUE
2 | remember tea --set importance=high | importance, number
2 | remember tea --set type=gaol | gaol, belief
2 | query --type blief | 'blief', belief
2 | query --since yesterday | 'yesterday', --since
2 | query --confidence high | high, 0.5..0.8
2 | query --sort size | 'size', created_at
2 | query --cursor abc | next_cursor
2 | query --verification maybe | 'maybe', contested
2 | query --limit many | 'many', --limit
2 | ls everything | 'everything', namespaces
2 | schema gaol | 'gaol', goal
2 | completions tcsh | 'tcsh', bash
2 | man nothing | nothing
2 | policy explain $A paint | paint, supersede
2 | search ( | search --help
2 | get $A --as ana | --as, did:key
# Addresses.
2 | get xyz | 64, hexadecimal
2 | get abc | 64, 4 or more
1 | get 0000 | 0000, grainstore list
1 | show nothing | nothing, sessions
1 | correct 0000 --set a=b | 0000
2 | correct $A --set nothing | FIELD=VALUE
2 | correct $A --unset valid_to | valid_to
1 | status 00000000 | 00000000
1 | history 0000 | 0000
1 | contradict 0000 | 0000
1 | supersede 0000 notes.jsonl | 0000
# Directories and files.
2 | init | memory.grains, ready for use
2 | --store nowhere stats | nowhere, grainstore init
2 | --store notes.jsonl stats | notes.jsonl
2 | --store notes.jsonl/x stats | ERR_STORAGE_IO, cannot open notes.jsonl/x, permissions
2 | --store notes.jsonl/x init | ERR_STORAGE_IO, cannot open notes.jsonl/x
2 | doctor --backup copy --store nowhere | nowhere, grainstore init
2 | upgrade now | 'now'
2 | help nothing | 'nothing'
2 | backup memory.grains | the store itself, new or empty
2 | backup . | . is not a grainstore, no MANIFEST, new or empty
2 | backup notes.jsonl | notes.jsonl
2 | restore nowhere new | nowhere, BACKUP
2 | restore memory.grains memory.grains | memory.grains
2 | merge nowhere | nowhere
2 | convert notes.jsonl out.xyz | out.xyz, --to, .omi.json
2 | convert notes.jsonl there.omi.json | there.omi.json, --force
2 | import nowhere.json | nowhere.json, No such file
2 | import empty | the file is empty, export or copy it again
2 | import notes.jsonl --format pamm | 'pamm', aimem
2 | put nowhere.jsonl | nowhere.jsonl, No such file
2 | export --format jsonl -o notes.jsonl | notes.jsonl, exists, --force
2 | export --format pam --plain -o pam/ | memory-store.json, --force
2 | export --format jsonl -o nowhere/x.jsonl | nowhere/x.jsonl
2 | checkpoint verify nowhere | nowhere
# Input.
2 | import - | the file is empty <<
2 | import - | - << {"type":
2 | put - | ERR_JSON, line 1, column, `grainstore put --help` << {"type":
2 | put - | ERR_JSON, line 2 << \n{type:"event"}
2 | put - | duplicate, line 1 << {"type":"event","content":"a","content":"b"}
2 | put - | subject, `grainstore schema TYPE`, https:// << {"type":"belief"}
2 | put - | gaol, belief << {"type":"gaol"}
2 | put - | type << {"content":"a"}
2 | put - | confidence << {"type":"belief","subject":"a","relation":"b","object":"c","confidence":"high"}
2 | put - | created_at << {"type":"event","content":"a","created_at":"yesterday"}
2 | put - | JSON object << [1]
2 | put - | verification_status << {"type":"event","content":"a","verification_status":"verified"}
"#;
