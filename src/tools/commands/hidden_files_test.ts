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
