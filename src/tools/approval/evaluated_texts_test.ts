import { assertEquals } from "@std/assert";
import { decideWithDenyRules } from "../../../tests/sandbox/decide_with_deny_rules.ts";

/** Commands in which bash evaluates a text. */
const EVALUATING: readonly string[] = [
  // Variables that have numbers in one place, and in another one what a program, its input or another script provides.
  "x=1; eval \"x='a[\\$(rm b)]'\"; echo $((x))",
  "x=1; y=x; eval 'read $y <<< \"a[\\$(rm b)]\"'; echo $((x))",
  "x=1; trap 'x=$y' DEBUG; echo $((x))",
  "x=1; command read x <<< 'a[$(rm b)]'; echo $((x))",
  "x=1; y=x; read $y <<< 'a[$(rm b)]'; echo $((x))",
  "y='a[$(rm b)]'; x=1; declare \"x=$y\"; echo $((x))",
  "y='a[$(rm b)]'; false && x=1; declare 'x+=y'; echo $((x))",
  "x=1; export $(cat a); echo $((x))",
  "REPLY=1; read <<< 'a[$(rm b)]'; echo $((REPLY))",
  "OPTARG=1; getopts a: y -a 'a[$(rm b)]'; echo $((OPTARG))",
  "_=1; echo 'a[$(rm b)]'; echo $((_))",
  "x='a[$(rm b)]' bash -c 'false && x=1; echo $((x))'",
  "env x='a[$(rm b)]' bash -c 'for x in $(seq 2 1); do :; done; echo $((x))'",
  "seq() { echo 'a[$(rm</dev/null)]'; }; for x in $(seq 1); do echo $((x)); done",
  // Expansions that bash may take for the name of a variable or for an option, and evaluates.
  "x='a[$(rm b)]'; read \"$x\"",
  "x='a[$(rm b)]'; command unset \"$x\"",
  "x='[$(rm b)]=1'; declare \"a$x\"",
  "x='[$(rm b)]'; read \"a$x\" <<< c",
  "x='[$(rm b)]'; mapfile a$x <<< c",
  "x='S4=$(rm a)'; export \"P$x\"; set -x; ls",
  "x='a[$(rm b)]'; read -d -p \"$x\"",
  "o=v; printf \"-$o\" 'a[$(rm b)]' x",
  "x='a[$(rm b)]=1'; declare \"$x\"",
  "x='PS4=$(rm a)'; export \"$x\"; set -x; ls",
  "export $(cat a); set -x; ls",
  "o=-v; printf \"$o\" 'a[$(rm b)]' x",
  "o=-n; declare $o z=PS4; z='$(rm a)'; set -x; ls",
  "x=-v; [ $x 'a[$(rm b)]' ]",
  "x=-v; [ a = a -a ! $x 'a[$(rm b)]' ]",
  "x='a[$(rm b)]'; y=([x]=1)",
  "x='a[$(rm b)]'; y+=([$x]=1 b)",
  "x='a[$(rm b)]'; read -pd \"$x\"",
  "x='p a[$(rm${IFS}b)]'; read -p $x",
  'x=PS4; mapfile -t "$x" < a; set -x; ls',
  "x='1 PS4=$(rm${IFS}b)'; export \"A\"=$x; set -x; ls",
  "A='-va[$(rm b)]'; printf \"$A\" x",
  "A=-v; printf \"${A}PS4\" '$(rm b)'; set -x; ls",
  "printf {-v,'a[$(rm b)]'} x",
  "touch -- -v; printf ?v 'a[$(rm b)]' x",
  "[ {-v,'a[$(rm b)]'} ]",
  "o=-a; x=-v; [ a = a $o $x 'a[$(rm b)]' ]",
  'p=\'!\'; x=-v; y=\'a[$(rm b)]\'; [ "$p" "$x" "$y" ]',
  // Texts that bash takes for a list, or for an expression, when it assigns them.
  "declare -a A='($(rm b))'",
  "x='([$(rm b)]=1)'; declare -A \"A=$x\"",
  "A=(); x='($(rm b))'; declare A=\"$x\"",
  "read -a A < a; f() { local A=\"$1\"; }; f '($(rm b))'",
  "x='($(rm b))'; declare PIPESTATUS=\"$x\"",
  "RANDOM='a[$(rm b)]'",
  "for SECONDS in 'a[$(rm b)]'; do ls; done",
  'export "OPTIND=a[\\$(rm b)]"',
  // The output of a command in an expression.
  "echo $(( $(echo 'a[$(rm b)]') ))",
  "(( $(cat a) ))",
  "x='a[$(rm b)]'; N=1; echo $(( $(echo \"$x|wc -l < \") ))",
  "x='a[$(rm b)]'; N=1; echo $(( $(echo \"$x\" # | wc -l\n) ))",
  "x='a[$(rm b)]'; N=1; [[ $(echo \"$x|stat -c \"%s a) -gt 0 ]]",
  "N=1; eval 'wc() { cat a; }'; echo $(( $(ls | wc -l) ))",
  "echo $(( $(wc -l 'a[$(rm b)]') ))",
  "echo $(( $(echo 'a[$(rm b)]' || ls | wc -l) ))",
  "echo $(( $(echo 'a[$(rm b)]'; ls | wc -l) ))",
  "echo $(( $(echo 'a[$(rm b)]' \\| wc -l) ))",
  "wc() { echo 'a[$(rm b)]'; }; echo $(( $(ls | wc -l) ))",
  "wc() { echo 'a[$(rm b)]'; }; x=$(ls | wc -l); echo $(( x ))",
  "grep() { echo 'a[$(rm b)]'; }; echo $(( $(ls | grep -c a) ))",
  "echo $(( $(grep -rc a .) ))",
  // Other values in the place of a number.
  "(( 1 = 1 )); set -- 'a[$(rm b)]'; echo $(($1))",
  "(( BASH_COMMAND = 1 )); echo $((BASH_COMMAND))",
  "unset SECONDS; SECONDS='a[$(rm b)]'; x=$SECONDS; echo $((x))",
  "x='a[$(rm b)]'; echo ${y:x}",
  "x='a[$(rm b)]'; echo ${y[x]}",
  "x='a[$(rm b)]'; echo ${!x[@]%a}",
  "x='a[$(rm b)]'; [[ -v $x ]]",
  "x='a[$(rm b)]'; for ((i = x; i < 3; i++)); do :; done",
  "IFS=X; x=rmXa; $x",
  "shopt -s nullglob expand_aliases; $x",
  "rsync -ae ssh -e './rm b' a b:",
  "GIT_SSH_COMMAND='ssh -o ProxyCommand=rm' git fetch",
];

for (const command of EVALUATING) {
  Deno.test(`approvalGate(): deny rules forbid the evaluation in ${JSON.stringify(command)}`, async () => {
    const { type } = await decideWithDenyRules(["bash(rm *)"], "bash", { command });
    assertEquals(type, "denied");
  });
}
