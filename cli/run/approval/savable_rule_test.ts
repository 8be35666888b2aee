import { assertEquals } from "@std/assert";
import { fakeTool } from "../../../src/testing/mod.ts";
import { type AskCause, codingTools, createSandbox } from "../../../src/tools/mod.ts";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { findSavableRule } from "./savable_rule.ts";

async function find(
  name: string,
  args: Readonly<Record<string, string>>,
  { cause = "mode", readOnly = false, isConfined = true }: {
    readonly cause?: AskCause;
    readonly readOnly?: boolean;
    readonly isConfined?: boolean;
  } = {},
): Promise<string | undefined> {
  await using directory = await createTemporaryDirectory();
  await using sandbox = createSandbox({ cwd: directory.path, readOnly });
  const describe = async () => ({ ...await sandbox.describe(), confined: isConfined });
  const own = codingTools({ sandbox }).find((tool) => tool.name === name);
  const tool = own ?? fakeTool({ name });
  return await findSavableRule({ name, arguments: args, tool, cause }, { ...sandbox, describe });
}

Deno.test("findSavableRule(): exactly the command, or all calls of another tool", async () => {
  assertEquals(await find("bash", { command: " deno test  a.ts " }), "bash(deno test a.ts)");
  assertEquals(await find("bash", { command: "/opt/tool --all" }), "bash(/opt/tool --all)");
  assertEquals(await find("edit_file", { path: "a.ts" }), "edit_file");
  assertEquals(await find("fetch_url", { url: "https://example.com" }), "fetch_url");
});

Deno.test("findSavableRule(): none for commands that always excludes, and for texts that are for other commands, too", async () => {
  const commands = [
    "sudo reboot",
    "rm -rf ..",
    "cat .env",
    "make; make test",
    "make && deno test",
    "git status && ls",
    "make > log",
    "A=b make",
    "make $X",
    "touch *.ts",
    "make *",
    "make:*",
    "echo 'a b'",
    'echo "a"',
    "echo a\\ b",
    "make (a)",
    "./build all",
    "lib/build",
    "~/bin/build",
    "make # all",
    "make\nmake test",
    "make\u00a0all",
    "make\r",
    "make \u200ball",
    `make ${"a".repeat(200)}`,
    "deploy --token=sk-ant-REDACTED",
    "",
    "*",
  ];
  for (const command of commands) assertEquals(await find("bash", { command }), undefined, command);
});

Deno.test("findSavableRule(): none for a command that may run its input, for which the rule would be for any code", async () => {
  const commands = [
    "python3",
    "/usr/bin/python3.12 -u",
    "node -",
    "deno repl",
    "python3 -i a.py",
    "psql db",
    "duckdb",
    "ftp host",
    "mongo db",
    "groovysh",
    "python3 -m pdb a.py",
    "python3 -u -m code",
    "uv run python",
    "npx tsx",
    "docker exec -i app node server.js",
    "docker exec app sh",
    "kubectl apply -f -",
    "gh api --input=-",
    "tool /dev/stdin",
    "rails console",
    "bundle exec rails c",
    "node -p",
    "node inspect a.js",
    "perl -p",
    "pdb3 a.py",
    "mariadb db",
    "lftp host",
    "uv run bash -eu",
    "docker compose exec app sh -o pipefail",
    "docker attach app",
    "heroku pg:psql",
    "tmux -C",
    "swift",
    "sbt",
    "vagrant ssh",
    "gcloud compute ssh a",
    "perl -de 0",
    "node --v8-pool-size 4",
  ];
  for (const command of commands) assertEquals(await find("bash", { command }), undefined, command);
  for (
    const command of [
      "python3 a.py",
      "python3 a.py -m code",
      "deno task check",
      "npm run shell-check",
      "make -j 4",
      "node -p 1",
      "perl -i -pe s/a/b/ a.txt",
      "docker compose exec app sh -e a.sh",
      "sbt test",
      "vagrant ssh -c ls",
      "python3 --version",
      "nix develop --command make",
      "swift build",
    ]
  ) {
    assertEquals(await find("bash", { command }), `bash(${command})`);
  }
});

Deno.test("findSavableRule(): none where always is for this session, this tool or this call only", async () => {
  const command = { command: "make" };
  assertEquals(await find("bash", command), "bash(make)");
  assertEquals(await find("bash", command, { isConfined: false }), undefined);
  assertEquals(await find("bash", command, { readOnly: true }), undefined);
  for (const cause of ["rule", "tool", "command", "class"] as const) {
    assertEquals(await find("bash", command, { cause }), undefined, cause);
  }
  assertEquals(await find("mcp__notes__add", {}), undefined);
  assertEquals(await find("own_tool", {}), undefined);
});
