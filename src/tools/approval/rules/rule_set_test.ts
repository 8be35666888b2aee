import { assertEquals, assertThrows } from "@std/assert";
import { explainWithGate } from "../../../../tests/sandbox/explain_with_gate.ts";
import { BadRequestError } from "../../../core/errors/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { defineTool } from "../../../core/tools/tool.ts";
import { approvalGate, type ApprovalGateOptions } from "../approval_gate.ts";
import type { CallExplanation } from "../call_explanation.ts";
import { parseRuleSet } from "./rule_set.ts";

/** Explains what a gate with these options decides about a call. */
async function explain(
  options: ApprovalGateOptions,
  name: string,
  args: JsonObject,
): Promise<CallExplanation["decision"]> {
  return await explainWithGate(approvalGate(options), name, args);
}

const user = (rules: object) => ({ source: "~/rules.json", ...rules });
const project = (rules: object) => ({
  source: ".swink/rules.json",
  authority: "project" as const,
  ...rules,
});

Deno.test("rule sets: a denial of any set wins over every allow rule, and is named with its source", async () => {
  const rules = [user({ allow: ["bash(git *)"] }), project({ deny: ["bash(git push *)"] })];
  assertEquals(await explain({ rules }, "bash", { command: "git push" }), {
    type: "denied",
    reason: "The rule bash(git push *) forbids this call.",
    rule: "bash(git push *)",
    ruleSource: ".swink/rules.json",
    origin: "rule",
  });
  assertEquals(await explain({ rules }, "bash", { command: "git commit -m a" }), {
    type: "approved",
    rule: "bash(git *)",
    ruleSource: "~/rules.json",
    origin: "rule",
  });
});

Deno.test("rule sets: a project cannot allow what the user does not allow, but can ask and deny", async () => {
  const rules = [
    user({ allow: ["bash(make *)"] }),
    project({ allow: ["bash", "write_file"], ask: ["bash(make deploy)"] }),
  ];
  const unknown = { source: "a", authority: "Project" as "project", allow: ["write_file"] };
  for (const sets of [rules, [unknown]]) {
    const { type } = await explain({ rules: sets }, "write_file", { path: "a" });
    assertEquals(type, "asked");
  }
  assertEquals((await explain({ rules }, "bash", { command: "rm a" })).type, "asked");
  assertEquals((await explain({ rules }, "bash", { command: "make test" })).type, "approved");
  assertEquals(await explain({ rules }, "bash", { command: "make deploy" }), {
    type: "asked",
    cause: "rule",
    reason: "The rule bash(make deploy) requires approval.",
    rule: "bash(make deploy)",
    ruleSource: ".swink/rules.json",
  });
});

Deno.test("rule sets: a grant of the session covers a call for which a rule asks, and bypassed asks for none", async () => {
  const rules = [user({ ask: ["write_file(src/**)"] })];
  const call = { name: "write_file", arguments: { path: "src/a" } };
  const tool = defineTool({
    name: "write_file",
    description: "",
    parameters: { type: "object" },
    execute: () => "",
  });
  const gate = approvalGate({ rules, allow: ["write_file"] });
  const decide = async () => (await gate.explain({ ...call, tool })).decision;
  assertEquals((await decide()).type, "asked");
  gate.trust({ type: "prefix", name: "write_file", prefix: "src" });
  assertEquals(await decide(), {
    type: "approved",
    rule: "write_file(src/**)",
    ruleSource: "session",
    origin: "rule",
  });
  gate.clearTrust();
  gate.mode = "bypassed";
  assertEquals(await decide(), { type: "approved", origin: "mode" });
});

Deno.test("rules: `*` at the end of a name matches tools that begin with it", async () => {
  const options = { allow: ["mcp__github__get_*"], deny: ["mcp__files__*"] };
  const decide = async (name: string) => (await explain(options, name, {})).type;
  assertEquals(await decide("mcp__github__get_issue"), "approved");
  assertEquals(await decide("mcp__github__close_issue"), "asked");
  assertEquals(await decide("mcp__files__read"), "denied");
  assertEquals((await explain({ deny: ["*"] }, "read_file", {})).type, "denied");
});

Deno.test("rules for fetch_url name a host, and optionally a path", async () => {
  const options = {
    allow: ["fetch_url(docs.deno.com)", "fetch_url(*.example.com/api/**)"],
    deny: ["fetch_url(evil.*)"],
  };
  const decide = async (url: unknown) =>
    (await explain(options, "fetch_url", { url } as JsonObject)).type;
  assertEquals(await decide("https://docs.deno.com/a?b"), "approved");
  assertEquals(await decide("https://DOCS.deno.com"), "approved");
  assertEquals(await decide("https://docs.deno.com:8443/"), "asked");
  assertEquals(await decide("https://docs.deno.com.evil.net/"), "asked");
  assertEquals(await decide("https://docs.deno.com@evil.net/"), "denied");
  assertEquals(await decide("https://a.example.com/api/v1/x"), "approved");
  assertEquals(await decide("https://a.example.com/other"), "asked");
  assertEquals(await decide("https://a.example.com/api/../other"), "asked");
  assertEquals(await decide("not a URL"), "denied");
  assertEquals(await decide(5), "denied");
});

Deno.test("rules: a denied path concerns a call without one, unless its tool then uses the working directory", async () => {
  const decide = async (name: string, args: JsonObject) =>
    (await explain({ deny: [`${name}(secrets/**)`] }, name, args)).type;
  assertEquals(await decide("delete_all", { target: "secrets/a" }), "denied");
  assertEquals(await decide("search_files", { pattern: "a" }), "denied");
  assertEquals(await decide("search_files", { pattern: "a", path: "lib" }), "asked");
  assertEquals(await decide("search_files", { path: "secrets/a" }), "denied");
});

Deno.test("parseRuleSet(): reads the lists of a JSON file", () => {
  const text = '{ "$schema": "x", "allow": ["read_file"], "deny": [] }';
  const rules = parseRuleSet(text, { source: "rules.json", authority: "project" });
  assertEquals(rules, {
    source: "rules.json",
    authority: "project",
    allow: ["read_file"],
    ask: undefined,
    deny: [],
  });
});

Deno.test("parseRuleSet(): names the file and the mistake", () => {
  const parse = (text: string) => () => parseRuleSet(text, { source: "rules.json" });
  for (
    const [text, message] of [
      ["{", "rules.json is not valid JSON"],
      ["[]", "rules.json: write an object"],
      ['{"alow":[]}', 'rules.json: "alow" is unknown'],
      ['{"allow":"bash"}', 'rules.json: "allow" must be a list of rules'],
      ['{"deny":[5]}', 'rules.json: "deny" must be a list of rules'],
      ['{"ask":["bash("]}', 'rules.json: "bash(" is not a valid rule'],
      [`{"deny":["write_file(${"a".repeat(5000)})"]}`, "longer than 4096 characters"],
    ] as const
  ) assertThrows(parse(text), BadRequestError, message);
});

Deno.test("approvalGate(): rejects unknown options, modes, classes and gates", () => {
  const create = (options: object) => () => approvalGate(options);
  assertThrows(create({ alow: [] }), BadRequestError, "alow");
  assertThrows(create({ mode: "smrt" }), BadRequestError, "mode must be");
  assertThrows(create({ classes: { reed: "auto" } }), BadRequestError, "reed");
  assertThrows(create({ classes: { read: "yes" } }), BadRequestError, "classes.read must be");
  assertThrows(
    create({ rules: [project({ allow: ["bash("] })] }),
    BadRequestError,
    '.swink/rules.json: "bash(" is not a valid rule',
  );
});
