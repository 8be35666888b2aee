import { assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { approvalGate, type ApprovalGateOptions } from "./approval_gate.ts";

Deno.test("approvalGate(): refuses rules that are no array, and a prompt that is no function", () => {
  const wrong: [unknown, string][] = [
    [{ allow: "read_file" }, 'allow must be an array of rules, not "read_file"'],
    [{ deny: "bash" }, 'deny must be an array of rules, not "bash"'],
    [{ rules: { deny: [] } }, "rules must be an array of rule sets, not an object"],
    [{ ask: true }, "ask must be a function, not true"],
  ];
  for (const [options, message] of wrong) {
    assertThrows(() => approvalGate(options as ApprovalGateOptions), BadRequestError, message);
  }
});
