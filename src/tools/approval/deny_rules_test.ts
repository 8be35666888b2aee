import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../core/json.ts";
import { defineTool } from "../../core/tool.ts";
import { approvalGate } from "./approval_gate.ts";

/** Returns the decision of a gate with deny rules, which approves all other calls. */
async function decide(deny: readonly string[], name: string, args: JsonObject) {
  const tool = defineTool({
    name,
    description: "",
    parameters: { type: "object" },
    execute: () => "",
  });
  const gate = approvalGate({ mode: "bypassed", deny });
  return (await gate.explain({ name, arguments: args, tool })).decision;
}

const FORBIDDEN: readonly string[] = [
  "/bin/rm a",
  "\\rm a",
  "RM a",
  "'r'm a",
  "$(echo rm) a",
  "{rm,a}",
  "$'rm' a",
  "/bin/r? a",
  "$X",
  "env rm a",
  "env -i A=b rm a",
  "env -S 'rm a'",
  "env --split-string='rm a'",
  "coproc rm a",
  "function f { rm a; }; f",
  "f() (rm a); f",
  "time -p rm a",
  "! rm a",
  "sudo --user root rm a",
  "sudo --prompt -u rm a",
  "sudo -Eu root rm a",
  "nice -n 5 nohup timeout --signal KILL 5 rm a",
  "timeout -- 5 rm a",
  "xargs -I{} rm {}",
  "ls | xargs rm",
  "trap 'rm a' EXIT",
  "trap rm DEBUG",
  "alias x=rm\nx a",
  "find . -exec rm {} +",
  "find . -execdir rm {} ';'",
  "find . -name a $X",
  "command rm a",
  "builtin command rm a",
  "exec -a x rm a",
  "sh -c 'rm a'",
  "bash -lc 'rm a'",
  "bash -c -o pipefail 'rm a'",
  "bash <<< 'rm a'",
  "sh script.sh",
  "eval 'rm' a",
  "eval $X",
  "source a",
  ". a",
  "if rm a; then :; fi",
  "while rm a; do :; done",
  "for x in a; do rm $x; done",
  "case a in a) rm a;; esac",
  "[[ -n $(rm a) ]]",
  "[[ -v a[$(rm b)] ]]",
  "[[ x -eq 1 ]]",
  "(( a[$(rm b)] ))",
  "echo $((x))",
  "echo ${!X}",
  "echo ${X@P}",
  "cat <(rm a)",
  "cat 0<(rm a)",
  "cat <<E\n$(rm a)\nE",
  "echo `rm a`",
  'echo "$(rm a)"',
  "a=$(rm a)",
  "a=(rm $(rm a))",
  "PS4='$(rm a)'; set -x; ls",
  "BASH_ENV=a bash -c ls",
  "git push",
  "git -C . push",
  "git --no-pager push",
  "git --git-dir x push -u origin main",
  "git -c alias.p=push p",
  "git $X",
  "awk 'BEGIN { system(\"rm a\") }'",
  "python3 -c 'import os; os.system(\"git push\")'",
  "sed '1e rm a' b",
  "sed -n 's/a/rm b/e' c",
  "ssh host rm a",
  "find . -name 'unterminated",
  "git rebase -x 'rm a' main",
  "git rebase -ix 'rm a'",
  "git clone -ccore.sshCommand=rm a",
  "git clone -qu 'rm a' b",
  "git init --template=a",
  "git grep -O'rm a' b",
  "git daemon",
  "tar cIf 'rm a' b c",
  "split --filter='rm a' b",
  "sort --co=./rm a",
  "man -P 'rm a' ls",
  "man -H'rm a' ls",
  "less '+!rm a' b",
  "zip -T -TT 'rm a' b c",
  "ssh -o ProxyCommand='rm a' b",
  "scp -S rm a b:",
  "make SHELL='rm a'",
  "make --eval='a:;rm b'",
  "npm test --script-shell=rm",
  "setarch x86_64 rm a",
  "linux64 -R /bin/rm a",
  "prlimit --nproc=5 rm a",
  "bwrap --bind / / rm a",
  "dbus-run-session -- rm a",
  "/lib64/ld-linux-x86-64.so.2 /bin/rm a",
  "ip netns exec a rm b",
  "tmux new 'rm a'",
  "screen -dm rm a",
  "socat EXEC:'rm a' -",
  "sg a 'rm b'",
  "npx rm a",
  "npm exec -- rm a",
  "uv run rm a",
  "docker run -v a:b c rm d",
  "numactl -N0 git -C a push",
  "numactl $X a",
  `prlimit ${"-a ".repeat(500)} rm a`,
  "env -- A=b rm a",
  "sudo -- A=b rm a",
  "eval -- rm a",
  "trap -- 'rm a' EXIT",
  "ssh -t host 'rm a'",
  "ssh host -- 'ls; rm a'",
  "fd -x rm",
  "crontab - <<< '* * * * * rm a'",
  "echo '@reboot rm a' | crontab",
  "hyperfine 'rm a'",
  "fdfind . --exec-batch rm",
  "mksh -c 'rm a'",
  "nu -c 'rm a'",
  "pee 'rm a'",
  "logsave out rm a",
  "choom -n 0 -- rm a",
  "sshpass -p x rm a",
  "ld.so /bin/rm a",
  "corepack npm publish",
  "pipenv run rm a",
  "op run -- rm a",
  "dc -e '!rm a'",
  "m4 -D x 'syscmd(rm a)'",
  "Rscript -e 'system(\"rm a\")'",
  "npm publish",
  "npm --registry x publish --dry-run",
  "git commit -nm x",
  "git commit --no-ver -m x",
  "which rm | xargs -I{} {} a",
  "which rm | xargs -I X X a",
  "which rm | xargs -iX X a",
  "which rm | xargs -i {} a",
  "which rm | xargs -ti {} a",
  "which rm | xargs --replace {} a",
  "ls | xargs --no-run-if-empty --max-procs 2 rm",
  "ls | xargs --repl rm {}",
  "which rm | xargs --replace=X X a",
  "find /bin -name rm -exec {} a ';'",
  "concurrently 'rm a'",
  // Interpreters by other names, and those that another program starts.
  `nodejs -e 'require("child_process").execSync("rm a")'`,
  "perl5.36 -e 'system \"rm a\"'",
  "ipython -c '!rm a'",
  "pypy3 -c 'import os; os.system(\"rm a\")'",
  "uv run python -c 'import os; os.system(\"rm a\")'",
  "poetry run python3 -c 'import os; os.system(\"git push\")'",
  "mise exec -- ruby -e 'system \"rm a\"'",
  // Names of GNU programs on macOS, and other programs that start one.
  "gtimeout -k 1 5 rm a",
  "genv -i rm a",
  "ls | gxargs rm",
  "gfind . -exec rm {} +",
  "watchexec -w src -- rm a",
  "powershell.exe rm a",
  "echo 'rm a' | tee a.sh && chmod +x a.sh && ./a.sh",
  // Variables with commands.
  "RSYNC_RSH='rm a' rsync a b:",
  "LESSOPEN='|rm a' less b",
  // The input of an interpreter, also through a pipe or a file that the command writes.
  "python3 - <<'E'\nimport os\nos.system('rm a')\nE",
  "python3 <<'E'\nimport subprocess\nsubprocess.run(['git', 'push'])\nE",
  "perl <<< 'system(\"rm a\")'",
  "make -f - <<< $'a:\\n\\trm a'",
  "docker exec -i a bash <<'E'\nrm a\nE",
  "echo \"import os; os.system('rm a')\" | python3",
  "cat <<'E' | node -\nrequire('child_process').execSync('rm a')\nE",
  "cat > a.py <<'E'\nimport os; os.system('rm a')\nE\npython3 a.py",
  "echo 'rm a' > a.sh; chmod +x a.sh; ./a.sh",
  // Programs that start a shell.
  "ssh host <<'E'\nrm a\nE",
  "echo 'rm a' | ssh -T host",
  "sudo -s <<< 'rm a'",
  "sudo -k -s <<< 'rm a'",
  "ssh -oNumberOfPasswordPrompts=0 host <<< 'rm a'",
  "ssh -i -N host <<< 'rm a'",
  "ssh -l git@a host <<< 'rm a'",
  "echo 'rm a' > a.sh; chmod +x a.sh; cat a.sh; ./a.sh",
  "echo 'rm a' > a.mk; git add a.mk; cat a.mk | make -f -",
  // Words that xargs and find replace.
  "xargs -I{} sh -c '{}' < list",
  "xargs -I% bash -c 'echo %' < list",
  "xargs -I{} env {} a < list",
  "find . -exec sh -c '{}' ';'",
  "env - rm a",
  "env -i - A=b rm a",
  "/usr/lib/git-core/git-push origin",
  "nc -e /bin/rm host 1",
  "ncat --sh-exec 'rm a' host 1",
  "sftp -D rm a",
  // Scripts that other shells than bash read differently, or bash in its mode for POSIX.
  "sh -c 'ls &>a rm b'",
  "find . -exec sh -c 'ls &>>a rm b' ';'",
  "sh -c '[[ a || rm ]]'",
  "sh -c '[[\nrm == a ]]'",
  "dash -c '((1))'",
  `sh -c "echo \\$'\\\\'; rm a; echo '"`,
  "ssh host 'ls &>a rm b'",
  "sh -c 'time -o a rm b'",
  "set -o posix\ntime -o a rm b",
  "/proc/self/exe -c 'rm a'",
  "cd /proc/self; ./exe -c 'rm a'",
  // Variables that a wrapper sets, names of settings in any case, and escapes that a program replaces.
  "env BASH_ENV=a ls",
  "env -u A GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p",
  "sudo PATH=. ls",
  "git config Alias.p push",
  "git config core.editor 'rm a'",
  "printf 'a:\\n\\trm b\\n' | make -f -",
  "echo -e '\\x72\\155 a' | python3",
  "lerna exec -- rm a",
  "npx $X",
  'npx -c "$X"',
  "npx -p a $X",
  "npm exec -- $X",
  "uv run env $X",
  'pnpm exec sh -c "$X"',
  "bunx npx $X",
  "npx $(cat a/b)",
  "npx /bin/r?",
  "cross-env A=$X a",
  "docker run a $X",
  "docker run --entrypoint $X a",
  'docker exec a sh -c "$X"',
  'docker exec -e A=$A "$X" rm a',
  'docker run -v "$PWD":/a -w /a b rm -r a',
  "kubectl exec $X -- $X",
  "source a/bin/activate",
  // Values that decide which programs run, and functions.
  "PATH=. ls",
  "PATH=a:$PATH ls",
  "export PATH=$X/bin:$PATH",
  "NODE_OPTIONS=--require=./a.js npm test",
  "NODE_OPTIONS='--experimental-loader ./a.js' npm test",
  "PAGER='rm a' git log",
  "GIT_EDITOR=$X git commit",
  "git --namespace a -c alias.p=push p",
  "git -c core.pager='rm a' log",
  "git -c user.name=$X a",
  "git bisect run ./a",
  'git -C "$d" push',
  "git -C $d status",
  'git --no-pager "$X"',
  'git -C "$@"',
  'git "$X" status',
  "env FOO=$BAR ls",
  'env FOO="$BAR" rm a',
  'env FOO="${A[@]}" a',
  'env PATH="$X" ls',
  "X='a[$(rm b)]'; echo $((X))",
  "X=1; read X < a; echo $((X))",
  "X=1; : ${X:=a}; echo $((X))",
  "for x in 1 $A; do echo $((x)); done",
  'f() { rm "$1"; }; f a',
  'f() { git "$@"; }; f push',
  'f() { "$@"; }; f rm a',
  "env() { shift; $1; }; env a rm",
  "~/bin/rm a",
  "~/$X a",
  "bash -n a b",
  "source .venv/bin/activate; git push",
  "echo 'git push' > venv/bin/activate; . venv/bin/activate",
  "cargo watch -s 'rm a'",
  "retry rm a",
  "view -c '!rm a'",
  "rm.exe a",
  "git send-pack origin",
  "npm pub",
];

for (const command of FORBIDDEN) {
  Deno.test(`approvalGate(): deny rules forbid ${JSON.stringify(command)}`, async () => {
    const deny = [
      "bash(rm *)",
      "bash(git push *)",
      "bash(npm publish)",
      "bash(git commit -n *)",
      "bash(git commit --no-verify *)",
    ];
    assertEquals((await decide(deny, "bash", { command })).type, "denied");
  });
}

Deno.test("approvalGate(): a deny rule for options also forbids their other forms", async () => {
  const deny = [
    "bash(rm -rf *)",
    "bash(git push --force *)",
    "bash(npm install -g *)",
    "bash(tar -xz *)",
  ];
  const getDecision = async (command: string) => (await decide(deny, "bash", { command })).type;
  for (
    const command of [
      ...["rm -fr a", "rm -r -f a", "rm a -rfv", "rm -Rf a", "rm --recursive --force a"],
      ...["rm --rec -f a", "git push -f", "git push -uf origin main", "npm install --global a"],
      ...["tar -zxf a", "tar -x -z -f a"],
    ]
  ) assertEquals(await getDecision(command), "denied", command);
  for (
    const command of [
      ...[
        "rm -r a",
        "rm -f a",
        "rm --force a",
        "git push",
        "git push --follow-tags",
        "git fetch -f",
      ],
      ...["git push origin -- f", "npm install a", "tar -xf a", "tar -cz -f a"],
    ]
  ) assertEquals(await getDecision(command), "approved", command);
});

Deno.test("approvalGate(): a deny rule for an option of git forbids its forms in the same sub-command", async () => {
  const deny = ["bash(git branch -D *)", "bash(git * --no-verify *)", "bash(git push --delete *)"];
  const getDecision = async (command: string) => (await decide(deny, "bash", { command })).type;
  for (
    const command of [
      ...["git branch -D a", "git branch -d -f a", "git branch -df a", "git branch --delete -f a"],
      ...[
        "git commit -n",
        "git -C a commit -anm b",
        "git push --no-verify",
        "git push -d origin a",
      ],
    ]
  ) assertEquals(await getDecision(command), "denied", command);
  for (
    const command of [
      ...["git branch -d a", "git branch --delete a", "git branch -f a b", "git push -n"],
      ...["git log -n 5", "git add -n a", "git clean -n -d", "git commit -m a"],
    ]
  ) assertEquals(await getDecision(command), "approved", command);
});

Deno.test("approvalGate(): a deny rule that may concern a call says how to write it", async () => {
  const deny = ["bash(rm *)", "write_file(secrets/**)"];
  const reason = (rule: string) =>
    `The rule ${rule} may forbid this call, whose effect is not certain. Name programs, arguments and paths as they are, without expansions.`;
  assertEquals(await decide(deny, "bash", { command: "$X" }), {
    type: "denied",
    reason: reason("bash(rm *)"),
    rule: "bash(rm *)",
    origin: "rule",
  });
  for (const path of ["../work/secrets/a", "/work/secrets/a"]) {
    assertEquals(await decide(deny, "write_file", { path }), {
      type: "denied",
      reason: reason("write_file(secrets/**)"),
      rule: "write_file(secrets/**)",
      origin: "rule",
    });
  }
});

Deno.test("approvalGate(): a deny rule of a single word, or with * at its end, is for any arguments", async () => {
  const isDenied = async (rule: string, command: string) =>
    (await decide([rule], "bash", { command })).type === "denied";
  const cases: readonly (readonly [rule: string, command: string, denied: boolean])[] = [
    ["bash(sudo)", "sudo ls", true],
    ["bash(sudo)", "ls; env sudo -u a ls", true],
    ["bash(sudo)", "ls sudo", false],
    ["bash(rm*)", "rm -rf a", true],
    ["bash(rm*)", "rmdir a", true],
    ["bash(*curl*)", "ls && /usr/bin/curl a", true],
    ["bash(*curl*)", "ls curl", false],
    ["bash(git pu*)", "git push origin main", true],
    ["bash(git pu*)", "git status", false],
    ["bash(git push origin)", "git push origin", true],
    ["bash(git push origin)", "git push origin main", false],
  ];
  for (const [rule, command, expected] of cases) {
    assertEquals(await isDenied(rule, command), expected, `${rule} ${command}`);
  }
});
