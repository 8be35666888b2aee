import { assertEquals } from "@std/assert";
import { decideWithDenyRules } from "../../../tests/sandbox/explain_with_gate.ts";

Deno.test("approvalGate(): deny rules let pass what they do not concern", async () => {
  const deny = ["bash(rm *)", "bash(git push *)", "bash(curl b.test *)"];
  for (
    const command of [
      "git log --oneline | grep push",
      "git commit -m 'push and rm'",
      "git stash push",
      "npm rm a",
      "docker rm a",
      "docker run -it --rm a",
      "git rebase main",
      "git clone a b",
      "git diff --text",
      "fd rm",
      "env -- A=b ls",
      "trap -- '' EXIT",
      "trap -- - EXIT",
      "ssh host 'ls -la'",
      "rustup update",
      "git log daemon",
      "tar xf a.tar -C b",
      "make -j4 CC=gcc all",
      "man rm",
      "split -b 5 a",
      "prlimit --nproc=5 make",
      "echo rm a",
      "./rm.sh",
      "ls | xargs -i mv {} a",
      "ls | xargs -r -l mv",
      "ls | xargs --no-run-if-empty --max-args 1 -I {} mv {} a",
      "ls | xargs --replace mv {} a",
      "ls | xargs -I{} git log -1 {}",
      "find . -name a -exec git add {} +",
      "find . -name a -exec git -C {} pull ';'",
      "find . -name a -exec npm --prefix={} test ';'",
      "curl -X POST -d {} a.test",
      "ls | xargs -I{} kubectl -n {} get pods",
      'for f in *.ts; do echo "$f"; done',
      "X=1 npm test > out 2>&1 &",
      "sh -c 'ls | wc -l'",
      "if [[ $? -eq 0 ]]; then echo ok; fi",
      "sed -i 's/form/rm/' a",
      "sed -n '/a/,/b/p' a",
      "sed -i -e '/a/d' -e 's/a/b/;s/c/d/' a",
      "python3 -c 'print(1)'",
      "case $X in a) ls;; esac",
      "python3 - <<'E'\nprint('form')\nE",
      "cat > notes.md <<'E'\nHow to rm a file, and to push with git\nE\nnpm test",
      "git commit -F - <<'E'\nExplain rm and git push\nE",
      "echo 'will rm a' && make",
      "echo 'rm a' > notes; ls",
      "cat > notes.md <<'E'\nHow to rm a file, and to push with git\nE\ncat notes.md; ls -l notes.md",
      "echo 'git push and rm a' >> notes.md && chmod 644 notes.md && git add notes.md",
      "ssh -V",
      "ssh -nN -L 8080:localhost:80 host",
      "ssh -T git@github.com",
      "sudo -nv",
      "uv run pytest -k 'not rm'",
      "poetry run python -c 'print(1)'",
      "gtimeout 5 npm test",
      "gfind . -name '*.ts'",
      "watchexec -w src -- npm test",
      "echo 'rm a' | tee notes.md; cat notes.md",
      "find . -name '*.ts' -exec sh -c 'wc -l \"$1\"' _ {} ';'",
      "ls | xargs -I{} sh -c 'wc -l \"$1\"' _ {}",
      "env - ls",
      "git-lfs pull",
      "sudo ls",
      "env NODE_ENV=a npm test",
      "bash -c 'ls &>a; [[ -f a ]] && ls'",
      "sh -c 'npm test &> out.log'",
      "sh -c '[[ -f a ]] && cat a'",
      "sh -c \"printf \$'a\\n'\"",
      "app/proc/run",
      "source .venv/bin/activate && pytest",
      "git switch -c feature/a.b",
      "git switch -c $BRANCH",
      "git grep -c a && git commit -c HEAD",
      "git clone --recursive a",
      "git pull --recurse-submodules && git add --update .",
      "git bisect good",
      'for d in */; do git -C "$d" status && git -C "$(pwd)/$d" pull; done',
      'git -C "$d" stash push',
      'env FOO="$BAR" npm test',
      "git -c user.name=a -c user.email=b@c -C d commit -m e",
      "PAGER=cat git diff; GIT_EDITOR=true git rebase --continue",
      "GIT_AUTHOR_DATE=2026-01-01 GIT_TERMINAL_PROMPT=0 git commit -m a",
      "NODE_OPTIONS='--max-old-space-size=4096 --no-warnings' npm test",
      'PATH="$PWD/node_modules/.bin:$PATH" eslint src',
      "export PATH=$HOME/.cargo/bin:/usr/local/bin:$PATH && cargo test",
      "N=0; while [[ $N -lt 3 ]]; do N=$((N + 1)); sleep 1; done; echo $((RANDOM % 10))",
      "for i in {1..3}; do echo $((i * 2)); done",
      "bash -c 'N=0; while (( N < 3 )); do N=$((N + 1)); done'",
      "trap 'ls $D' EXIT; N=1; echo $((N + 1))",
      "for i in 1 2; do printf '%s\\n' \"$A $((i * 2))\"; wait $!; unset A; done",
      "N=$(ls | wc -l); if (( N > 3 )); then echo $(( $(wc -l < a) + $(date +%s) )); fi",
      "A=$?; B=${#L[@]}; if (( A != 0 || $# > 0 )) || [[ $B -gt ${#L[@]} ]]; then exit $A; fi",
      'if [[ $(ls | wc -l) -gt 0 && "$(grep -c a b)" -lt 3 ]]; then :; fi; echo $(( $(stat -c %s "$F") / 2 ))',
      "for ((I = 0; I < ${#L[@]}; I++)); do echo ${L[$I]} ${L[I]}; done; echo ${!L[@]}",
      'B=$SECONDS; make; echo "$((SECONDS - B)) ${SHA:0:7} ${SHA: -3}"; [[ -v CI ]]',
      "while IFS= read -r -d '' F; do echo \"$F\"; done < <(find . -print0)",
      "IFS=, read -ra L <<< 'a,b'; IFS=$'\\n'; for F in $(ls); do echo $F; done",
      "shopt -s globstar nullglob; ls **/*.ts",
      "rsync -av -e 'ssh -p 22 -i key' a b:",
      "GIT_SSH_COMMAND='ssh -i ~/.ssh/key -o IdentitiesOnly=yes' git fetch; GIT_TRACE=1 git fetch",
      "git checkout --conflict=diff3 a",
      'read -t 5 -rp "$P" A; read -r -d "$D" -u "$FD" A; read -p "Go on with $A? " B',
      'printf "${A}Hello %s\\n" "$B"; printf "Hello $A: %s %s\\n" "$B" c; export "A=$B" C="$D"; declare -r E="$(pwd)"',
      'A=(b "c d" *.ts); A+=("$B"); A=([0]=b [1]=c); [ "$A" = b -a "$B" -o -n "$C" -o ! "$D" != e ]',
      'read -p "$P" A; read -r B; printf "$A"; printf "%s" "$A"; [ "$A" = "$B" ]; [ -n "$A" ]',
      'f() { local A="$1"; declare B=$2; export A; unset A; }; f a',
      'N=1; export A="$B"; read -r C < a; echo $((N + 1))',
      'export "PATH=$HOME/bin:$PATH"; ls',
      "git config remote.origin.url a && git config merge.conflictStyle diff3",
      'build() { make "$1"; }; build a',
      "~/go/bin/golangci-lint run",
      "bash -n script.sh",
      ". venv/bin/activate; python a.py",
      // Expansions in the arguments of a program that another one starts.
      "npx eslint src/*.ts",
      "npx -y a@$V",
      "npx prettier --write $(cat list)",
      "npx serve -l ${PORT:-3000}",
      "npm run build -- --file=$F",
      'pnpm exec jest "$F"',
      "bun run scripts/*.ts",
      'deno run -A "$f"',
      "uv run pytest tests/test_*.py",
      'for f in *.py; do uv run python "$f"; done',
      "bundle exec rspec spec/*_spec.rb",
      'cargo run -- "$INPUT" tests/*.txt',
      "cargo run -- rm a",
      'docker run --rm -v "$PWD":/app -w /app node:20 npm test',
      "docker run -it -u $(id -u):$(id -g) -e KEY=$KEY a make",
      'docker exec -it "$C" ls',
      "docker compose exec -T web pytest tests/*",
      "kubectl -n $N exec $POD -- ls",
      "sh -c 'grep \"a$\" b > c 2>&1; [ -f c ]'",
      "time -p ls",
      "git config user.name a",
      "cargo test rm_file",
      "docker compose exec web ls",
      "python3 -m pytest -k rm",
      "view rm",
      "retry 3 make",
      "uv run bash -c 'ls | wc -l'",
      'foo bash -c "ls $D"; foo bash -c "$A"',
      "env a.b=c ls; SECONDS=0; OPTIND=1; declare -a A=(b) B='(c)'; local C=\"$1\"",
      'N="$(grep -c a b)"; echo $((N + $(cat "$F" | wc -l)))',
      "docker exec a bash -c 'source b; ls'",
      "git commit -m 'how to run bash -c'",
      "yarn rm a",
      "pnpm rm a",
      "docker-compose run --rm a pytest tests/*",
      // Directories and patterns of find that are no actions.
      'find "$D" -name \'*.ts\' | wc -l; find "$A" "$B" -name c; find $HOME/a ~/b packages/*/src -type d',
      'find "$D" -name \'*.ts\' -exec grep -l "$P" {} +; find . -name "*.$E" -exec cat {} ";"',
      'find . -name *.py; find . -path "./$D" -prune -o -newermt "$T" -printf "%p\\n" -delete',
      'kubectl -n "$N" get pods; helm -n "$N" list',
      'cat > "docs/$N.md" <<E\nHow to rm a file\nE\n./gradlew build',
      // Numbers of which a text names the variable, and those of the entries of a list.
      'N=0; for f in *; do N=$((N + 1)); done; echo "N=$N"; printf "N=%d\\n" "$N"',
      'A=(b c); for I in "${!A[@]}"; do echo "$I: ${A[$I]} ${A[I]}"; done',
      // Programs in a directory that a variable names, and scripts of the project.
      '"$PWD/node_modules/.bin/tsc" -p .; "$VENV/bin/python" -m pytest; $HOME/.cargo/bin/cargo test',
      'for S in build test; do npm run "$S" || exit 1; done',
      "bash -euo pipefail -c 'npm test | tail'; bash -o pipefail -c ls; hash -r; set -euo pipefail",
      "sed -i '5a\\\ntext' a; sed -i '5i one\\\ntwo' b; sed --version",
      "git subtree pull --prefix a origin b && git lfs ls-files",
    ]
  ) {
    assertEquals((await decideWithDenyRules(deny, "bash", { command })).type, "approved", command);
  }
});

Deno.test("approvalGate(): a deny rule for an option lets pass messages with expansions", async () => {
  const deny = [
    "bash(git commit --no-verify *)",
    "bash(git commit -n *)",
    "bash(git commit --amend *)",
  ];
  const getType = async (command: string) =>
    (await decideWithDenyRules(deny, "bash", { command })).type;
  const document = `"$(cat <<'E'\nFix a\n\n* b\n\nCo-Authored-By: c <c@d>\nE\n)"`;
  for (const message of [document, '"$M"', '"Fix $X"']) {
    for (const option of ["-m", "-am", "--message"]) {
      assertEquals(
        await getType(`git add -A && git commit ${option} ${message}`),
        "approved",
        message,
      );
    }
    assertEquals(await getType(`git commit -m ${message} -n`), "denied", message);
    assertEquals(await getType(`git commit --amend -m ${message}`), "denied", message);
    assertEquals(await getType(`git -C "$D" commit -q -m ${message}`), "approved", message);
    // It begins like no option.
    const decision = message === '"Fix $X"' ? "approved" : "denied";
    assertEquals(await getType(`git commit ${message}`), decision, message);
  }
  // The option for a text is itself a value, or another option.
  for (const command of ['commit -m -m "$M"', 'commit -F -m "$M"', 'commit --trailer -m "$M"']) {
    assertEquals(await getType(`git ${command}`), "denied", command);
  }
  const other = [
    "bash(git log --output *)",
    "bash(git diff --output *)",
    "bash(gh pr merge --admin *)",
    "bash(kubectl delete *)",
  ];
  for (
    const command of [
      'git log -m "$X"',
      'git log -C "$X"',
      'git diff -S -- "$X"',
      'gh pr merge 5 -m "$X"',
      'kubectl -n --namespace "$X" pod a',
    ]
  ) assertEquals((await decideWithDenyRules(other, "bash", { command })).type, "denied", command);
  for (const message of ["$M", '"$@"', '"${M[@]}"']) {
    assertEquals(await getType(`git commit -m ${message}`), "denied", message);
  }
});

Deno.test("approvalGate(): a deny rule for an option lets pass files with expansions", async () => {
  const deny = ["bash(rm -rf *)", "bash(git reset --hard *)", "bash(git push --force *)"];
  const getType = async (command: string) =>
    (await decideWithDenyRules(deny, "bash", { command })).type;
  for (
    const command of [
      ...[
        "rm dist/*.js",
        "rm -f ./*.js src/a{b,c}",
        'rm -f "dist/$F" ./"$F"',
        'rm -r -- "$F" $G *',
      ],
      ...['git reset -- "$F"', "git reset -q -- $F", 'git push origin "v$V" "HEAD:$B"'],
    ]
  ) assertEquals(await getType(command), "approved", command);
  for (
    const command of [
      ...[
        "rm *",
        "rm -f $F",
        'rm "$F"',
        "rm dist/$F",
        "rm {a,-rf}",
        'rm -"r$F"',
        'rm -f "$F" -- a',
      ],
      ...['git reset "$F"', 'git push origin -- "$F"', 'git push origin "+$B"', "git push $V"],
    ]
  ) assertEquals(await getType(command), "denied", command);
});
