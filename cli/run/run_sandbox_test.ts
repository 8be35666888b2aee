import { assertEquals } from "@std/assert";
import type { SandboxReport } from "../../src/tools/mod.ts";
import { toRunSandbox } from "./run_sandbox.ts";

const RULES: SandboxReport["rules"] = [
  { rule: "writes", enforcedBy: "kernel", how: "Landlock" },
  { rule: "reads", enforcedBy: "kernel", how: "Landlock" },
  { rule: "sockets", enforcedBy: "kernel", how: "seccomp" },
  { rule: "variables", enforcedBy: "program", how: "environment" },
];

Deno.test("toRunSandbox(): lists each mechanism of the kernel once", () => {
  const mechanisms = ["Landlock", "seccomp"];
  const report = { status: "partly_confined", rules: RULES } as const;
  assertEquals(toRunSandbox("auto", report), { status: "partly_confined", mechanisms });
  assertEquals(toRunSandbox("off", report), { status: "off", mechanisms: [] });
});
