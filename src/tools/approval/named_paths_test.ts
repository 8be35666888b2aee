import { assertEquals } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { createRuledCall, parseApprovalRule } from "./approval_rules.ts";

Deno.test("rules for reading: a command that names a path of a deny rule is denied", async () => {
  await using workspace = new TestWorkspace();
  const { files } = workspace.sandbox;
  const root = workspace.directory;
  const decide = async (rule: string, command: string) =>
    parseApprovalRule(rule).concerns(
      await createRuledCall({ name: "bash", arguments: { command } }, files),
    );
  for (
    const [rule, command, expected] of [
      ["Read(secret/**)", "cat secret/a.txt", "certain"],
      ["Read(secret/**)", "cd secret && cat a.txt", "certain"],
      ["Read(secret/**)", "ls ./secret/", "certain"],
      ["Read(secret/**)", "sort < secret/a", "certain"],
      ["Read(secret/**)", "cat lib/../secret/a", "certain"],
      ["Read(secret/**)", "echo $(cat secret/a)", "certain"],
      ["Read(secret/**)", "sh -c 'cat secret/a'", "certain"],
      ["Read(secret/**)", "git show HEAD:secret/a", "certain"],
      ["Read(secret/**)", "python3 load.py --file=secret/a", "certain"],
      ["Read(secret/**)", `cat ${root}/secret/a`, "certain"],
      ["Read(secret/**)", "cat secret/*", "possible"],
      ["Read(secret/**)", "cat $PWD/secret/a", "possible"],
      ["Read(secret/**)", "cat ~/project/secret/a", "possible"],
      ["Read(secret/**)", "cd lib && cat ../secret/a", "possible"],
      ["Read(secret/**)", "cat SECRET/a", "possible"],
      [`Read(${root}/secret/**)`, "cat secret/a", "certain"],
      ["Read(id)", "cat id", "certain"],
      ["Read(.env)", "cp lib/.env b", "certain"],
      ["read_file(secret/**)", "head secret/a", "certain"],
      ["Read(secret/**)", "cat lib/secret.txt", "none"],
      ["Read(secret/**)", "cat ../lib/a", "none"],
      ["Read(secret/**)", "ls -la .", "none"],
      ["Read(secret/**)", "cd ..", "none"],
      ["Read(secret/**)", "echo secret/a", "none"],
      ["Read(*.pem)", "git commit -m 'Replace server.pem'", "none"],
      ["Read(build)", "npm run build", "none"],
      ["Read(.env)", "git status", "none"],
      ["Edit(secret/**)", "cat secret/a", "none"],
      ["Grep(secret/**)", "cat secret/a", "none"],
      ["WebFetch(a.test)", "cat a.test", "none"],
    ] as const
  ) assertEquals(await decide(rule, command), expected, `${rule} ${command}`);
  const many = Array.from({ length: 501 }, (_, index) => `a/${index}`).join(" ");
  assertEquals(await decide("Read(secret/**)", `cat ${many}`), "possible");
});
