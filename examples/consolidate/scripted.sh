#!/bin/sh
# A program for `grainstore consolidate --with` that needs no model: who moved where. It reads the turns of a
# person as JSON lines, and writes a belief a line.
sed -n 's/.*"id":"\(t[0-9]*\)".*"text":"I moved to \([A-Z][a-z]*\).*/{"subject":"user","relation":"lives_in","object":"\2","derived_from":["\1"]}/p'
