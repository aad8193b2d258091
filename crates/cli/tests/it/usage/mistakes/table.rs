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
2 | remember tea --subject ana --relation likes --confidence 2 | '2', from 0 to 1, 0.9
2 | remember tea --subject ana --relation likes --confidence much | 'much', --confidence, from 0 to 1
2 | remember tea --set nothing | FIELD=VALUE
2 | remember tea --set importance=high | importance, number
2 | remember tea --set type=gaol | gaol, belief
2 | query --type blief | 'blief', belief
2 | query --since soon | 'soon', --since, yesterday
2 | query --since 2026-13-01 | '2026-13-01', names no time
2 | query --until soon | 'soon', 2026-01-15
2 | query --valid-at soon | 'soon', 2 hours ago
2 | query --known-at soon | 'soon', last week
2 | recall tea --now soon | 'soon', --now
2 | consent list --at soon | 'soon', yesterday
2 | audit log --from soon | 'soon', --from
2 | restore memory.grains new --at soon | 'soon', yesterday
2 | query --confidence high | high, 0.5..0.8
2 | query --sort size | 'size', created_at
2 | query --cursor abc | next_cursor
2 | query --verification maybe | 'maybe', contested
2 | query --limit many | 'many', --limit, whole number
2 | recall tea --budget many | 'many', whole number
2 | tail --from soon | 'soon', whole number
2 | search tea --share 2 | '2', from 0 to 1
2 | query --type 0x999 | '0x999', 0x0b
2 | query --trust maybe | 'maybe', verified
2 | query --importance .. | '..', number
2 | query --confidence 0.9..0.1 | confidence, ends before it begins
2 | query --derived-from xyz | xyz, 64
2 | serve --listen 80 | '80', 127.0.0.1:7471
2 | serve --listen 127.0.0.1:0 --replicate ftp://x | s3://BUCKET
2 | serve --listen localhost | 'localhost', 127.0.0.1:7471
2 | serve --public-url nowhere | nowhere, https://HOST
2 | token add --allow all | 'all', read, export
2 | token revoke abc | abc, token list
2 | mcp install --client emacs | 'emacs', claude-code
2 | mcp --agent did:web:a.example | --agent, letters, claude-code
2 | mcp --agent a --as did:web:a.example | --agent, --as
2 | hook install emacs | 'emacs', codex
2 | policy preset paint | 'paint', gdpr
2 | export --format pamm | 'pamm', 'pam'
2 | convert notes.jsonl out.json --to pamm | 'pamm', aimem
2 | import notes.jsonl --dialect zebra | 'zebra', okf
2 | --color maybe list | 'maybe', always
2 | --embed nothing search tea | nothing, model install
2 | remember tea --if-same maybe --subject a --relation b | 'maybe', supersede
2 | remember tea --set =x | FIELD=VALUE
2 | ls colours | 'colours', subjects
2 | query --format xml | 'xml', csv
2 | search tea AND | AND, search --help
2 | search objct:tea | objct, subject
2 | cal RECALL nonsense | nonsense, CAL-E003
2 | cal  | no statement, CAL-E014
2 | cal DELETE everything | DELETE, never deletes
2 | cal RECALL beliefs WHERE colour = "red" | colour, CAL-E004
2 | ls everything | 'everything', namespaces
2 | schema gaol | 'gaol', goal
2 | completions tcsh | 'tcsh', bash
2 | man nothing | nothing
2 | policy explain $A paint | paint, supersede
2 | search ( | search --help
2 | get $A --as ana | --as, did:key, did:web:bot.example.com
2 | query --as did:key:abc | --as, did:web:bot.example.com
2 | mcp --as ana | --as, did:web:bot.example.com
# Addresses.
2 | get xyz | 64, hexadecimal
2 | get abc | 64, 4 or more
1 | show abc | abc, first 4 digits
2 | exists xyz | xyz, 4 or more
1 | hold place 0000 --reason a --authority b | 0000
1 | hold lift 0000 --reason a --authority b | 0000
1 | conflicts resolve 0000 | 0000
1 | audit why 0000 | 0000
1 | query --derived-from 0000 | 0000
1 | delete 0000 --reason a --authority b --yes | 0000
2 | correct $A --set objct=coffee | objct, did you mean object
2 | correct $A --set confidence=2 | confidence, 0.0 to 1.0
2 | correct $A --set object= | object, empty
2 | correct $A --set confidence=high | confidence, number
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
2 | restore memory.grains memory.grains | memory.grains, new or empty
2 | recover memory.grains memory.grains | memory.grains, new or empty
2 | recover nowhere new | nowhere, ledger/
2 | merge nowhere | nowhere, another store
2 | merge notes.jsonl | notes.jsonl, it is a file
2 | init there | 'there', --store DIR
2 | sync notes.jsonl | notes.jsonl
2 | validate empty | the file is empty
2 | model install nowhere | nowhere
2 | embed nowhere | nowhere
2 | grain verify nowhere | nowhere
2 | supersede $A nowhere.jsonl | nowhere.jsonl
2 | config allow nowhere | nowhere
2 | export --format markdown | DIR
2 | convert notes.jsonl out.xyz | out.xyz, --to, .omi.json
2 | convert notes.jsonl there.omi.json | there.omi.json, --force
2 | import nowhere.json | nowhere.json, No such file
2 | import empty | the file is empty, export or copy it again
2 | import notes.jsonl --format pamm | 'pamm', 'pam', --help
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
2 | put - | confidence, did you mean it by confidnce << {"type":"belief","subject":"a","relation":"b","object":"c","confidnce":0.9}
2 | put - | goal_state, did you mean it by goalstate << {"type":"goal","description":"a","goalstate":"active"}
2 | put - | duplicate, line 1 << {"type":"event","content":"a","content":"b"}
2 | put - | subject, `grainstore schema TYPE`, https:// << {"type":"belief"}
2 | put - | gaol, belief << {"type":"gaol"}
2 | put - | type << {"content":"a"}
2 | put - | confidence << {"type":"belief","subject":"a","relation":"b","object":"c","confidence":"high"}
2 | put - | created_at << {"type":"event","content":"a","created_at":"yesterday"}
2 | put - | JSON object << [1]
2 | put - | verification_status << {"type":"event","content":"a","verification_status":"verified"}
# Options of other tools, and of other commands.
2 | list --since yesterday | query, search
2 | list --top-k 5 | --limit N
2 | serve --port 80 | --listen 127.0.0.1:PORT
2 | serve --host 0.0.0.0 | --listen ADDRESS:PORT
2 | search tea --semantic | --embed local, model install
2 | query --select a | --fields a,b
2 | stats --db x | --store DIR
2 | recall tea --tags a | --tag TAG
2 | remember tea --user-id ana | --user ID
2 | remember --subject ana --relation lives_in --object Porto | without an option, remember Porto
2 | recall tea --session-id s | --session ID
2 | query --before yesterday | --until TIME
2 | query --after yesterday | --since TIME
2 | checkpoint create --sign-key x | serve
2 | --josn list | '--json'
2 | help serch | 'search'
2 | help ipmort | 'import'
# Persons and things that are not there.
1 | user report nobody | nobody, no grain here has a user
1 | user erase nobody --reason a --authority b --yes | nobody
1 | query --user nobody | nobody
1 | search tea --user nobody | nobody
1 | recall tea --user nobody | nobody
1 | export --format jsonl --user nobody | nobody
1 | export --format jsonl --person Ana | Ana
1 | search zebra | nothing found
1 | recall zebra | shares a word, model --help
1 | query --subject nobody | nothing found
1 | sessions | no conversations
1 | token list | token add
1 | tail --from 99999 | nothing found
1 | policy show | no regime is in force, policy preset
2 | import one.jsonl.gz | one.jsonl.gz, gunzip
1 | vault rotate | no person has a key, user add
1 | audit log --by ana | no entry passes
# Arguments that are missing.
2 | remember tea --subject | --subject
2 | query --tag | --tag
2 | query --sort | --sort
2 | token add --as did:web:a.example | --allow
2 | serve --tls-cert x | --tls-key
2 | mcp install | --client
2 | hook install | <AGENT>
2 | user add | <NAME>
2 | trust add ana | --reason
2 | sync | <DIR>
2 | backup | <DIR>
2 | convert notes.jsonl | <OUTPUT>
2 | similar $A | --model
2 | conflicts resolve | <ADDRESS>
2 | completions | <SHELL>
2 | policy show x | 'x'
2 | put notes.jsonl nowhere.jsonl | 'nowhere.jsonl'
"#;
