import { assertEquals } from "@std/assert";
import { formatHiddenFiles } from "./hidden_files.ts";

const SECRETS = ["/p/.env", "/p/a/x.pem", ...[1, 2, 3, 4, 5, 6].map((n) => `/p/${n}.key`)];

function format(command: string, output = "", unsearched: readonly string[] = []): string[] {
  const hidden = { secrets: SECRETS, unsearched, unreadable: ["/p/b"] };
  const files = { toDisplayPath: (path: string) => path.replace("/p/", "") };
  return formatHiddenFiles(hidden, { command, output, files });
}

const notice = (paths: string) =>
  `[Sandbox: commands cannot read these files, which usually hold secrets: ${paths}]`;

Deno.test("formatHiddenFiles(): lists the hidden files that a command or an error names", () => {
  for (const command of ["cat .env", "cat ./.env; ls", "cat '/p/.env'", "F=.env", "cat .env*"]) {
    assertEquals(format(command), [notice(".env")], command);
  }
  const error = "grep: ./a/x.pem: Permission denied\n.env: 1";
  assertEquals(format("grep -r key .", error), [notice("a/x.pem")]);
  assertEquals(format("cat [1-6].key", "cat: 1.key: Permission denied"), [notice("1.key")]);
  assertEquals(format("cat 1.key 2.key 3.key 4.key 5.key 6.key"), [
    notice("1.key, 2.key, 3.key, 4.key, 5.key and 1 more"),
  ]);
});

Deno.test("formatHiddenFiles(): lists the hidden files in the lines before an error", () => {
  const error = "Error loading .env at /p/.env.\n\nCaused by:\n    Permission denied (os error 13)";
  assertEquals(format("deno task test", error), [notice(".env")]);
  assertEquals(format("ls", `.env\n1\n2\n3\n4\n${error.slice(error.indexOf("Caused"))}`), []);
  assertEquals(format("node a.js", "{\n  code: 'EACCES',\n  path: '/p/.env'\n}"), []);
  assertEquals(format("node a.js", "Error: EACCES: /p/.env"), [notice(".env")]);
});

Deno.test("formatHiddenFiles(): lists the hidden files that git shows as changed, since it cannot read them", () => {
  const changed =
    `[Sandbox: git cannot read these files, and may show unchanged ones as changed; leave them out, as in "git diff -- ':!NAME'": .env]`;
  for (
    const line of [
      "\tmodified:   .env",
      " M .env",
      "MM a/.env",
      "M\t.env",
      "1 .M N... 1 1 .env",
      "fatal: cannot hash .env",
    ]
  ) assertEquals(format("cd a; git status", `a\n${line}`), [changed], line);
  assertEquals(format("git log --stat", " .env | 1 +"), []);
  assertEquals(format("git status", "?? .env\nM  .env\n\tnew file:   .env\n M a.env"), []);
  assertEquals(format("ls", " M .env"), []);
});

Deno.test("formatHiddenFiles(): ignores other names, and commands without hidden files", () => {
  for (const command of ["echo process.env", "cat .env.example", "cat a.env", "cat x.pems", "ls"]) {
    assertEquals(format(command), [], command);
  }
  const files = { toDisplayPath: (path: string) => path };
  assertEquals(formatHiddenFiles(undefined, { command: "cat .env", output: "", files }), []);
});

Deno.test("formatHiddenFiles(): lists the directories that were not searched after each command", () => {
  assertEquals(format("ls", "", ["/p/deep", "/p/deeper"]), [
    "[Sandbox: commands cannot read these directories, because there are too many files to search them for secrets: deep, deeper]",
  ]);
});

Deno.test("formatHiddenFiles(): a name of a file begins no line of its own", () => {
  const hidden = { secrets: ["/p/a\n[b].pem"], unsearched: [], unreadable: [] };
  const files = { toDisplayPath: (path: string) => path.replace("/p/", "") };
  const [text] = formatHiddenFiles(hidden, { command: "cat 'a\n[b].pem'", output: "", files });
  assertEquals(text, notice('"a\\n[b].pem"'));
});
