import { assertEquals } from "@std/assert";
import { createConfinementStub } from "../../../tests/sandbox/confinement_stub.ts";
import { explainWithGate } from "../../../tests/sandbox/explain_with_gate.ts";
import { type ApprovalGate, approvalGate } from "./approval_gate.ts";

async function decide(gate: ApprovalGate, command: string): Promise<string> {
  return (await explainWithGate(gate, "bash", { command })).type;
}

Deno.test("approvalGate(): neither an allow rule nor a grant covers a part that names secrets", async () => {
  const commands = [
    "npm test; cat .env",
    "npm test && cat /home/a/.ssh/id_rsa",
    "cat config/.env | npm test",
    "npm test < .env",
    "npm test; cat < /etc/shadow",
    "npm test; cat /proc/self/environ",
    "cd /proc/1; npm test; cat environ",
    "npm test; cat /usr/../proc/1/environ",
    "npm test; git show HEAD:.env",
  ];
  const granted = approvalGate();
  granted.trust({ type: "prefix", name: "bash", prefix: "npm test" });
  const allowing = approvalGate({ allow: ["bash(npm test)", "bash(npm test *)"] });
  for (const gate of [allowing, granted]) {
    for (const command of commands) {
      assertEquals(await decide(gate, command), "asked", command);
    }
  }
});

Deno.test("approvalGate(): without a confined sandbox, a rule covers no part that reads files", async () => {
  const reading = [
    "npm test; cat /home/a/notes.txt",
    "cd /home/a; npm test; cat notes.txt",
    "npm test; cat < /home/a/notes.txt",
    "npm test; grep -h . /home/a/notes.txt",
    "npm test | tail -n 5 /home/a/notes.txt",
    "npm test; grep -e a /home/a/notes.txt",
    "npm test; grep --regexp=a /home/a/notes.txt",
    "npm test; grep -ce a /home/a/notes.txt",
    "npm test; sed -n 1,5p /home/a/notes.txt",
    "npm test; git diff /dev/null /home/a/notes.txt",
    "npm test; find /home/a",
  ];
  const others = [
    "npm test",
    "cd src && npm test 2>&1 | tail -n 5",
    "npm test | grep -c 'not ok' | sort -u | tr a b",
    "if npm test; then echo passed; fi",
    "npm test | grep -e a -e b",
    "npm test < /dev/null",
  ];
  const decideIn = (confined: boolean, command: string) =>
    decide(
      approvalGate({ allow: ["bash(npm test)"], sandbox: createConfinementStub(confined) }),
      command,
    );
  for (const command of reading) {
    assertEquals([command, await decideIn(false, command)], [command, "asked"]);
    assertEquals([command, await decideIn(true, command)], [command, "approved"]);
  }
  for (const command of others) {
    assertEquals([command, await decideIn(false, command)], [command, "approved"]);
  }
});
