import { assertEquals } from "@std/assert";
import type { ApprovalDecision } from "../../core/approval.ts";
import type { JsonObject } from "../../core/json.ts";
import { type AgentTool, defineTool } from "../../core/tool.ts";
import { type ApprovalGate, approvalGate, type ApprovalGateOptions } from "./approval_gate.ts";
import { planMode } from "./plan_mode.ts";

const createTool = (name: string, readOnly: boolean): AgentTool =>
  defineTool({
    name,
    description: "",
    parameters: { type: "object" },
    readOnly,
    execute: () => "",
  });

async function requestDecision(
  gate: ApprovalGate,
  name: string,
  args: JsonObject,
): Promise<ApprovalDecision> {
  return await gate({
    toolCallId: "1",
    name,
    arguments: args,
    tool: createTool(name, name === "read_file"),
    signal: new AbortController().signal,
  });
}

async function getDecisionType(
  gate: ApprovalGate,
  name: string,
  args: JsonObject = {},
): Promise<string> {
  return (await requestDecision(gate, name, args)).type;
}

/** A gate with a person who gives these answers in turn, and the questions they were asked. */
function createPromptedGate(
  answers: readonly (ApprovalDecision | boolean)[],
  options: ApprovalGateOptions = {},
): { gate: ApprovalGate; questions: string[] } {
  const questions: string[] = [];
  const remaining = [...answers];
  const gate = approvalGate({
    ...options,
    ask: ({ name, arguments: args }) => {
      questions.push(String(args.command ?? args.path ?? name));
      return remaining.shift() ?? false;
    },
  });
  return { gate, questions };
}

Deno.test("A 81: smart asks about what changes things, enabled about all, bypassed about nothing", async () => {
  for (const [mode, questions] of [["smart", 1], ["enabled", 2], ["bypassed", 0]] as const) {
    const person = createPromptedGate([true, true], { mode });
    await getDecisionType(person.gate, "read_file");
    await getDecisionType(person.gate, "write_file");
    assertEquals(person.questions.length, questions, mode);
  }
});

Deno.test("without anybody to ask, and when asking fails, the answer is no", async () => {
  assertEquals(await requestDecision(approvalGate(), "bash", { command: "ls" }), {
    type: "denied",
    reason: "Nobody can be asked, and this call needs an approval.",
  });
  const failing = approvalGate({
    ask: () => {
      throw new Error("no terminal");
    },
  });
  assertEquals(await getDecisionType(failing, "bash", { command: "ls" }), "denied");
});

Deno.test("yes, no, no with a reason and edited arguments go through as they are", async () => {
  const edited: ApprovalDecision = { type: "approved", arguments: { command: "pwd" } };
  const refused: ApprovalDecision = { type: "denied", reason: "not now" };
  const { gate } = createPromptedGate([true, false, refused, edited]);
  assertEquals(await requestDecision(gate, "bash", {}), { type: "approved" });
  assertEquals(await requestDecision(gate, "bash", {}), { type: "denied" });
  assertEquals(await requestDecision(gate, "bash", {}), refused);
  assertEquals(await requestDecision(gate, "bash", {}), edited);
});

Deno.test("trust in a tool lasts for the session, until it is forgotten", async () => {
  const { gate, questions } = createPromptedGate([{ type: "approved", scope: "tool" }, true]);
  await getDecisionType(gate, "write_file", { path: "a" });
  await getDecisionType(gate, "write_file", { path: "b" });
  assertEquals(questions, ["a"]);
  assertEquals(gate.trusted, [{ type: "tool", name: "write_file" }]);
  gate.clearTrust();
  await getDecisionType(gate, "write_file", { path: "c" });
  assertEquals(questions, ["a", "c"]);
});

Deno.test("trust in a command prefix covers what begins with it, and what only looks beside it", async () => {
  const { gate, questions } = createPromptedGate([{
    type: "approved",
    scope: "prefix",
    prefix: "npm test",
  }]);
  await getDecisionType(gate, "bash", { command: "npm test" });
  for (const command of ["npm test -- a", "cd src && npm test | tail -5", "npm test 2>&1"]) {
    assertEquals(await getDecisionType(gate, "bash", { command }), "approved", command);
  }
  const beyond = [
    "npm tests",
    "npm install",
    "npm test; rm x",
    "npm test > ~/.profile",
    "npm test $(rm x)",
    "npm test && sh -c 'rm x'",
    "X=1 npm test",
    "npm test || eval $Y",
    "ls",
  ];
  for (const command of beyond) {
    assertEquals(await getDecisionType(gate, "bash", { command }), "denied", command);
  }
  assertEquals(questions, ["npm test", ...beyond]);
});

Deno.test("trust in a path prefix ends at its folder", async () => {
  const { gate } = createPromptedGate([{ type: "approved", scope: "prefix", prefix: "src" }]);
  await getDecisionType(gate, "write_file", { path: "src/a" });
  const decisions = await Promise.all(
    ["src/b/c", "./src/d", "srcx", "src/../e", "../src/f", "/src/g"].map((path) =>
      getDecisionType(gate, "write_file", { path })
    ),
  );
  assertEquals(decisions, ["approved", "approved", "denied", "denied", "denied", "denied"]);
});

Deno.test("trust in bash does not cover what is dangerous", async () => {
  const { gate, questions } = createPromptedGate([{ type: "approved", scope: "tool" }]);
  await getDecisionType(gate, "bash", { command: "make" });
  assertEquals(await getDecisionType(gate, "bash", { command: "make all" }), "approved");
  assertEquals(await getDecisionType(gate, "bash", { command: "rm -rf /" }), "denied");
  assertEquals(questions, ["make", "rm -rf /"]);
});

Deno.test("where commands are not confined, bash is not trusted as a whole and nothing passes as harmless", async () => {
  const report = (confined: boolean) => ({
    describe: () => Promise.resolve({ confined, summary: "", rules: [] }),
  });
  const open = createPromptedGate([{ type: "approved", scope: "tool" }], {
    sandbox: report(false),
    allowHarmless: true,
  });
  await getDecisionType(open.gate, "bash", { command: "make" });
  assertEquals(await getDecisionType(open.gate, "bash", { command: "make" }), "denied");
  assertEquals(await getDecisionType(open.gate, "bash", { command: "ls" }), "denied");
  const safe = approvalGate({ sandbox: report(true), allowHarmless: true });
  assertEquals(await getDecisionType(safe, "bash", { command: "ls" }), "approved");
  assertEquals(await getDecisionType(safe, "bash", { command: "ls; make" }), "denied");
});

Deno.test("rules: deny beats allow and every mode, and sees into pipes, shells and wrappers", async () => {
  const gate = approvalGate({
    mode: "bypassed",
    allow: ["bash"],
    deny: ["bash(git push *)", "write_file(secrets/**)", "fetch_url"],
  });
  for (
    const command of [
      "git push",
      "ls | git push x",
      "sh -c 'git push'",
      "env A=b git push",
      "echo $(git push)",
    ]
  ) {
    assertEquals(await getDecisionType(gate, "bash", { command }), "denied", command);
  }
  assertEquals(await getDecisionType(gate, "bash", { command: "git pull" }), "approved");
  assertEquals(await getDecisionType(gate, "write_file", { path: "secrets/a/b" }), "denied");
  assertEquals(await getDecisionType(gate, "write_file", { path: "x/../secrets/a" }), "denied");
  assertEquals(await getDecisionType(gate, "fetch_url"), "denied");
});

Deno.test("rules: allow covers a whole command or nothing of it", async () => {
  const gate = approvalGate({ allow: ["Bash(npm run *)", "Bash(git log:*)", "edit_file(src/**)"] });
  assertEquals(
    await getDecisionType(gate, "bash", { command: "npm run build && git log -3" }),
    "approved",
  );
  assertEquals(
    await getDecisionType(gate, "bash", { command: "npm run build | tail" }),
    "approved",
  );
  assertEquals(await getDecisionType(gate, "bash", { command: "git log -3" }), "approved");
  assertEquals(await getDecisionType(gate, "bash", { command: "npm run build; curl x" }), "denied");
  assertEquals(await getDecisionType(gate, "edit_file", { path: "src/a/b.ts" }), "approved");
  assertEquals(await getDecisionType(gate, "edit_file", { path: "a.ts" }), "denied");
});

Deno.test("plan mode: only tools that change nothing exist", () => {
  const tools = [createTool("read_file", true), createTool("write_file", false)];
  assertEquals(planMode(tools).map(({ name }) => name), ["read_file"]);
});
