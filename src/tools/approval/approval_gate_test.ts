import { assertEquals, assertThrows } from "@std/assert";
import { createConfinementStub } from "../../../tests/sandbox/confinement_stub.ts";
import type { ApprovalDecision, TrustGrant } from "../../core/approval/approval.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../core/hooks/approve.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { codingTools } from "../coding_tools.ts";
import { type ApprovalGate, approvalGate, type ApprovalGateOptions } from "./approval_gate.ts";
import { getCommandRisk } from "./command_risk.ts";

const createTool = (name: string): AgentTool =>
  defineTool({
    name,
    description: "",
    parameters: { type: "object" },
    readOnly: name === "read_file",
    ...(name === "bash" && { risk: ({ command }) => getCommandRisk(String(command)) }),
    execute: () => "",
  });

async function requestDecision(
  gate: ApprovalGate,
  name: string,
  args: JsonObject,
): Promise<ApprovalDecision | { type: "pending" }> {
  return await gate(createRequest(name, args));
}

function createRequest(
  name: string,
  args: JsonObject,
  signal: AbortSignal = new AbortController().signal,
): ApprovalRequest {
  const tool = createTool(name);
  return { toolCallId: "1", name, arguments: args, tool, context: undefined, signal };
}

async function getDecisionType(
  gate: ApprovalGate,
  name: string,
  args: JsonObject = {},
): Promise<string> {
  return (await requestDecision(gate, name, args)).type;
}

/** Creates a gate whose prompt returns the answers in order and records the calls that it is shown. */
function createPromptedGate(
  answers: readonly ApprovalAnswer[],
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

Deno.test("approvalGate(): mode smart prompts for tools that are not read-only, enabled for all tools, bypassed for none [A81]", async () => {
  for (const [mode, questions] of [["smart", 1], ["enabled", 2], ["bypassed", 0]] as const) {
    const { gate, questions: asked } = createPromptedGate([true, true], { mode });
    await getDecisionType(gate, "read_file");
    await getDecisionType(gate, "write_file");
    assertEquals(asked.length, questions, mode);
  }
});

Deno.test("approvalGate(): denies calls without a prompt and when the prompt fails", async () => {
  assertEquals(await requestDecision(approvalGate(), "bash", { command: "ls" }), {
    type: "denied",
    reason: "This call needs approval, and no approval prompt is configured.",
    origin: "mode",
  });
  const failing = approvalGate({
    ask: () => {
      throw new Error("no terminal");
    },
  });
  assertEquals(await requestDecision(failing, "bash", { command: "ls" }), {
    type: "denied",
    reason: "The approval prompt failed.",
    origin: "mode",
  });
});

Deno.test("approvalGate(): returns the answers of the prompt as decisions of a person, unless they name another origin", async () => {
  const edited: ApprovalDecision = { type: "approved", arguments: { command: "pwd" } };
  const refused: ApprovalDecision = { type: "denied", reason: "not now", origin: "policy" };
  const { gate } = createPromptedGate([true, false, refused, edited]);
  const origin = "person";
  assertEquals(await requestDecision(gate, "bash", {}), { type: "approved", origin });
  assertEquals(await requestDecision(gate, "bash", {}), { type: "denied", origin });
  assertEquals(await requestDecision(gate, "bash", {}), refused);
  assertEquals(await requestDecision(gate, "bash", {}), { ...edited, origin });
});

Deno.test("approvalGate(): a pending answer is returned, and grants nothing", async () => {
  const { gate } = createPromptedGate([{ type: "pending" }, false]);
  assertEquals(await requestDecision(gate, "bash", {}), { type: "pending" });
  assertEquals([gate.trusted, await getDecisionType(gate, "bash")], [[], "denied"]);
});

Deno.test("approvalGate(): a decision names the rule, the grant or the mode that made it", async () => {
  const { gate } = createPromptedGate([
    { type: "approved", scope: "prefix", prefix: "npm run" },
    { type: "approved", scope: "prefix", prefix: "src" },
    { type: "approved", scope: "tool" },
  ], { allow: ["bash(npm test *)"], deny: ["bash(rm *)"], sandbox: createConfinementStub(true) });
  const decide = (name: string, args: JsonObject = {}) => requestDecision(gate, name, args);
  const run = (command: string) => decide("bash", { command });
  assertEquals(await run("rm a"), {
    type: "denied",
    reason: "The rule bash(rm *) forbids this call.",
    rule: "bash(rm *)",
    origin: "rule",
  });
  const byRule = (rule: string) => ({ type: "approved", rule, origin: "rule" } as const);
  assertEquals(await run("npm test -- a"), byRule("bash(npm test *)"));
  const byGrant = (rule: string) => ({ ...byRule(rule), ruleSource: "session" });
  assertEquals(await run("ls"), byRule("read: auto"));
  await run("npm run build");
  assertEquals(await run("npm run lint"), byGrant("bash(npm run *)"));
  await decide("edit_file", { path: "src/a" });
  assertEquals(await decide("edit_file", { path: "src/b" }), byGrant("edit_file(src/**)"));
  await decide("write_file");
  assertEquals(await decide("write_file"), byGrant("write_file"));
  assertEquals(await decide("read_file"), { type: "approved", origin: "mode" });
  gate.mode = "bypassed";
  assertEquals(await run("make"), { type: "approved", origin: "mode" });
});

Deno.test("approvalGate(): a trusted tool stays trusted until clearTrust() [AC-30]", async () => {
  const { gate, questions } = createPromptedGate([{ type: "approved", scope: "tool" }, true]);
  await getDecisionType(gate, "write_file", { path: "a" });
  await getDecisionType(gate, "write_file", { path: "b" });
  assertEquals(questions, ["a"]);
  assertEquals(gate.trusted, [{ type: "tool", name: "write_file" }]);
  gate.clearTrust();
  await getDecisionType(gate, "write_file", { path: "c" });
  assertEquals(questions, ["a", "c"]);
});

Deno.test("approvalGate(): a trusted prefix covers commands that begin with it, also combined with read-only commands", async () => {
  const { gate, questions } = createPromptedGate([{
    type: "approved",
    scope: "prefix",
    prefix: "npm test",
  }]);
  await getDecisionType(gate, "bash", { command: "npm test" });
  for (const command of ["npm test -- a", "cd src && npm test | tail -5", "npm test 2>&1"]) {
    assertEquals(await getDecisionType(gate, "bash", { command }), "approved", command);
  }
  const uncovered = [
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
  for (const command of uncovered) {
    assertEquals(await getDecisionType(gate, "bash", { command }), "denied", command);
  }
  assertEquals(questions, ["npm test", ...uncovered]);
});

Deno.test("approvalGate(): a trusted path prefix covers only paths in its directory", async () => {
  const { gate } = createPromptedGate([{ type: "approved", scope: "prefix", prefix: "src" }]);
  await getDecisionType(gate, "write_file", { path: "src/a" });
  const decisions = await Promise.all(
    ["src/b/c", "./src/d", "srcx", "src/../e", "../src/f", "/src/g"].map((path) =>
      getDecisionType(gate, "write_file", { path })
    ),
  );
  assertEquals(decisions, ["approved", "approved", "denied", "denied", "denied", "denied"]);
});

Deno.test("approvalGate(): trust in bash does not cover dangerous commands", async () => {
  const { gate, questions } = createPromptedGate([{ type: "approved", scope: "tool" }]);
  await getDecisionType(gate, "bash", { command: "make" });
  assertEquals(await getDecisionType(gate, "bash", { command: "make all" }), "approved");
  assertEquals(await getDecisionType(gate, "bash", { command: "rm -rf /" }), "denied");
  assertEquals(questions, ["make", "rm -rf /"]);
});

Deno.test("approvalGate(): without confinement bash is not trusted as a tool, and no command by its class", async () => {
  const unconfined = createPromptedGate([{ type: "approved", scope: "tool" }], {
    sandbox: createConfinementStub(false),
    classes: { read: "auto" },
  });
  await getDecisionType(unconfined.gate, "bash", { command: "make" });
  assertEquals(unconfined.gate.trusted, []);
  assertEquals(await getDecisionType(unconfined.gate, "bash", { command: "make" }), "denied");
  assertEquals(await getDecisionType(unconfined.gate, "bash", { command: "ls" }), "denied");
  const confined = approvalGate({ sandbox: createConfinementStub(true) });
  assertEquals(await getDecisionType(confined, "bash", { command: "ls" }), "approved");
  assertEquals(await getDecisionType(confined, "bash", { command: "ls; make" }), "denied");
});

Deno.test("approvalGate(): without confinement a rule or grant for all of bash covers no command, and one with a pattern does", async () => {
  const gate = approvalGate({
    sandbox: createConfinementStub(false),
    allow: ["bash", "bash(make *)", "write_file"],
  });
  gate.trust({ type: "tool", name: "bash" });
  assertEquals(await getDecisionType(gate, "bash", { command: "rm -rf x" }), "denied");
  assertEquals(await getDecisionType(gate, "bash", { command: "make all" }), "approved");
  assertEquals(await getDecisionType(gate, "write_file", { path: "a" }), "approved");
});

Deno.test("approvalGate(): without confinement no pattern or prefix covers all of bash", async () => {
  const sandbox = createConfinementStub(false);
  for (const rule of ["bash( *)", "bash(* *)", "bash(:*)", "bash(*:*)", "bash(** *)"]) {
    const gate = approvalGate({ sandbox, allow: [rule] });
    assertEquals(await getDecisionType(gate, "bash", { command: "make" }), "denied", rule);
    const confined = approvalGate({ sandbox: createConfinementStub(true), allow: [rule] });
    assertEquals(await getDecisionType(confined, "bash", { command: "make" }), "approved", rule);
  }
  for (const prefix of ["", " ", "*", "* ", "ma*", ":*"]) {
    const gate = approvalGate({ sandbox });
    gate.trust({ type: "prefix", name: "bash", prefix });
    assertEquals(await getDecisionType(gate, "bash", { command: "make" }), "denied", prefix);
  }
  const { gate } = createPromptedGate([{ type: "approved", scope: "prefix", prefix: " " }]);
  await getDecisionType(gate, "bash", { command: "make" });
  assertEquals(gate.trusted, []);
});

Deno.test("approvalGate(): arguments that a person edits are denied by deny rules and classes, and nothing is granted", async () => {
  const edit = (command: string): ApprovalAnswer => ({
    type: "approved",
    scope: "tool",
    arguments: { command },
  });
  const answers = ["git push", "curl a", "make test"].map(edit);
  const { gate } = createPromptedGate(answers, {
    deny: ["bash(git push *)"],
    classes: { network: "deny" },
  });
  const decide = () => requestDecision(gate, "bash", { command: "make" });
  assertEquals(await decide(), {
    type: "denied",
    reason: "The rule bash(git push *) forbids this call.",
    rule: "bash(git push *)",
    origin: "rule",
  });
  assertEquals((await decide()).type, "denied");
  assertEquals(gate.trusted, []);
  assertEquals((await decide()).type, "approved");
});

Deno.test("approvalGate(): a decision that comes after an abort, or is invalid, grants nothing", async () => {
  const controller = new AbortController();
  const late = approvalGate({
    ask() {
      controller.abort();
      return { type: "approved", scope: "tool" };
    },
  });
  const { signal } = controller;
  const decision = await late(createRequest("write_file", { path: "a" }, signal));
  assertEquals([decision.type, late.trusted], ["denied", []]);
  const invalid: unknown[] = [
    { type: "approved", scope: "tool", arguments: "a" },
    { type: "approved", scope: "tool", refusedHunks: "a" },
    { type: "maybe", scope: "tool" },
  ];
  for (const answer of invalid) {
    const { gate } = createPromptedGate([answer as ApprovalAnswer]);
    assertEquals(await getDecisionType(gate, "write_file", { path: "a" }), "denied");
    assertEquals(gate.trusted, []);
  }
});

Deno.test("approvalGate(): a decision whose edited arguments the tool does not accept grants nothing", async () => {
  const [tool] = codingTools().filter(({ name }) => name === "write_file");
  if (!tool) throw new Error("write_file is missing");
  const { gate } = createPromptedGate([
    { type: "approved", scope: "tool", arguments: { path: 5 } },
    { type: "approved", scope: "tool", arguments: { path: "b", content: "" } },
  ]);
  const request = { ...createRequest("write_file", { path: "a", content: "" }), tool };
  await gate(request);
  assertEquals(gate.trusted, []);
  await gate(request);
  assertEquals(gate.trusted, [{ type: "tool", name: "write_file" }]);
});

Deno.test("approvalGate(): after a change of the directory no rule or grant covers a program with a relative path", async () => {
  for (const command of ["cd sub", "pushd sub", "source script", "if ls; then cd sub; fi"]) {
    const { gate } = createPromptedGate([false, true], {
      allow: ["bash(./run *)", "bash(make *)"],
    });
    gate.trust({ type: "prefix", name: "bash", prefix: "scripts/test" });
    const decide = (command: string) => getDecisionType(gate, "bash", { command });
    assertEquals(await decide(command), "denied");
    assertEquals([await decide("./run"), await decide("scripts/test a")], ["approved", "approved"]);
    assertEquals(await decide(command), "approved");
    assertEquals([await decide("./run"), await decide("scripts/test a")], ["denied", "denied"]);
    assertEquals([await decide("make"), await decide("./run")], ["approved", "denied"]);
    const { decision } = await gate.explain(createRequest("bash", { command: "./run" }));
    assertEquals(decision.type === "asked" && decision.cause, "command");
  }
});

Deno.test("approvalGate(): a command in the arguments of another tool does not make a grant for its path apply", async () => {
  const gate = approvalGate();
  gate.trust({ type: "prefix", name: "copy", prefix: "src" });
  assertEquals(await getDecisionType(gate, "copy", { path: "src/a", command: "b" }), "approved");
  assertEquals(await getDecisionType(gate, "copy", { path: "lib/a", command: "src" }), "denied");
});

Deno.test("approvalGate(): deny rules override allow rules and modes, and apply inside pipes, shells and wrappers", async () => {
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

Deno.test("approvalGate(): allow rules must cover the complete command", async () => {
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

const UNCOVERED: readonly string[] = [
  // Not one command, although it looks like one.
  "deno test\u00a0#; touch pwn",
  "deno test\r#; touch pwn",
  "deno test\v#; touch pwn",
  "deno test\f#; touch pwn",
  "deno test 0<(touch pwn)",
  "deno test <(touch pwn)",
  "deno test <<E\nE\ntouch pwn",
  "deno test <<A <<B\nA\nB\ntouch pwn",
  "deno test <<$'E'\nE\ntouch pwn",
  "deno test <<E\n\tE\nE\ntouch pwn",
  "deno test <<-E\n\tE\ntouch pwn",
  "deno test <<E\n$(touch pwn)\nE",
  "deno test <<E",
  "deno test 'unterminated",
  'deno test "unterminated',
  "deno test\0; touch pwn",
  // Expansions.
  "deno test $NAME",
  "deno test $(touch pwn)",
  "deno test `touch pwn`",
  "deno test ${X:-$(touch pwn)}",
  "deno test $((a[$(touch pwn)]))",
  "deno test *",
  "deno test ~/a",
  "deno test {a,b}",
  "deno test $'a'",
  'deno test $"a"',
  // Variables, redirections and definitions that change what runs.
  "PATH=. deno test",
  "LD_PRELOAD=x deno test",
  "GIT_SSH_COMMAND=x deno test",
  "export PATH=.; deno test",
  "for PATH in .; do deno test; done",
  "deno() { touch pwn; }; deno test",
  "alias deno=touch\ndeno test",
  "deno test > pwn",
  "deno test >& pwn",
  "deno test > 1",
  "deno test {fd}> pwn",
  "{ deno test; } > pwn",
  // Another program.
  "./deno test",
  "/tmp/deno test",
  "deno test; touch pwn",
  "deno test & touch pwn",
  "deno test | tee pwn",
  "env deno test",
  "sh -c 'deno test'",
  "case x in x) deno test;; esac",
  // Options with which a program that otherwise reads writes or runs another one.
  "git log --output=pwn",
  "git log --outp=pwn",
  "git -c core.pager=./x log",
  "sort -o pwn a",
  "git --git-dir x log --output=pwn",
  "git -c user.name=a log --output=pwn",
  "git --namespace x log --output=pwn",
  "cd x && scripts/run a",
];

for (const command of UNCOVERED) {
  Deno.test(`approvalGate(): allow rules do not cover ${JSON.stringify(command)}`, async () => {
    const allow = [
      "bash(deno test *)",
      "bash(git *)",
      "bash(git log *)",
      "bash(sort *)",
      "bash(scripts/run *)",
    ];
    assertEquals(await getDecisionType(approvalGate({ allow }), "bash", { command }), "denied");
  });
}

Deno.test("approvalGate(): allow rules cover literal arguments, harmless commands and options that they name", async () => {
  const gate = approvalGate({
    allow: ["bash(deno test *)", "bash(grep -rn *)", "bash(sed -i *)", "bash(git *)"],
  });
  for (
    const command of [
      "deno test",
      "deno test --filter 'a b' \"c\" d\\ e",
      "cd src && deno test 2>&1 | tail -n 5",
      "if deno test; then echo passed; fi",
      "deno test <<'E'\n$(a)\nE",
      "grep -rn foo src",
      "sed -i s/a/b/ a.txt",
      "git commit -m 'a; b'",
      "git branch a && git tag -a v1 -m b && git remote add c d",
      "git -C lib status && git -C lib log --since yesterday --author a",
    ]
  ) {
    assertEquals(await getDecisionType(gate, "bash", { command }), "approved", command);
  }
});

Deno.test("approvalGate(): neither an allow rule nor a grant covers a command that may run others", async () => {
  const gate = approvalGate({ allow: ["bash(echo *)", "bash(sh *)", "bash(env *)"] });
  gate.trust({ type: "prefix", name: "bash", prefix: "make" });
  assertEquals(await getDecisionType(gate, "bash", { command: "echo a > /dev/null" }), "approved");
  assertEquals(await getDecisionType(gate, "bash", { command: "make all" }), "approved");
  const opaque = [
    "echo <<END\n$(rm x)\nEND",
    "sh script.sh",
    "env -S 'rm x'",
    'make "unterminated',
    "make $TARGET",
    "make ${X:-$(rm x)}",
  ];
  for (const command of opaque) {
    assertEquals(await getDecisionType(gate, "bash", { command }), "denied", command);
  }
});

Deno.test("approvalGate(): trust() refuses grants that it could not read, and decides on as before", async () => {
  const gate = approvalGate({});
  const invalid: readonly unknown[] = [
    null,
    undefined,
    "bash",
    {},
    { type: "tool" },
    { type: "prefix", name: "bash" },
    { type: "prefix", name: "bash", prefix: 5 },
    { type: "all", name: "bash" },
  ];
  for (const grant of invalid) {
    assertThrows(() => gate.trust(grant as TrustGrant), BadRequestError, "A grant must be");
  }
  assertEquals(gate.trusted, []);
  assertEquals(await getDecisionType(gate, "bash", { command: "make" }), "denied");
});
