import { assert, assertEquals } from "@std/assert";
import type { McpElicitation } from "../../src/mcp/mod.ts";
import type { Choice } from "../questions/choice.ts";
import { getPlainStyle } from "../render/style.ts";
import { askElicitation, type ElicitationQuestions } from "./ask_elicitation.ts";

const { signal } = new AbortController();
const NAME = { type: "string", title: "Name" };

function createForm(
  properties: Record<string, unknown>,
  required: readonly string[] = [],
): McpElicitation {
  const schema = { type: "object", properties, required };
  return { type: "form", server: "own", message: "Who are you?", schema, signal };
}

/** Answers questions, in their order, and keeps their texts. */
function createQuestions(answers: readonly (string | undefined)[]) {
  const shown: string[] = [];
  const remaining = [...answers];
  const questions: ElicitationQuestions = {
    style: getPlainStyle(),
    askChoice<Answer extends string>({ details, message, answers }: Choice<Answer>) {
      shown.push(...details.map(({ text, mark = "" }) => mark + text), message);
      const answer = remaining.shift();
      return Promise.resolve(answers.find((candidate) => candidate === answer));
    },
    askText({ message, initial }) {
      shown.push(initial === undefined ? message : `${message} [${initial}]`);
      return Promise.resolve(remaining.shift());
    },
    notify: (text) => shown.push(`! ${text}`),
  };
  return { shown, questions, remaining };
}

async function ask(request: McpElicitation, answers: readonly (string | undefined)[]) {
  const { shown, questions, remaining } = createQuestions(answers);
  const { answer, problem } = await askElicitation(request, questions);
  assertEquals(remaining, []);
  return { answer, problem, shown };
}

Deno.test("askElicitation(): shows the request, asks for each field, and shows what is sent", async () => {
  const form = createForm({
    name: { ...NAME, description: "Your\nname", default: "Ada" },
    age: { type: "integer" },
    color: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    isAdult: { type: "boolean" },
  }, ["name", "age"]);
  const { answer, shown } = await ask(form, ["yes", "Bob", "x", "7", "2", "", "yes"]);
  assertEquals(answer, { type: "accepted", content: { name: "Bob", age: 7, color: "g" } });
  assertEquals(shown, [
    "! swink asks for data for own",
    "",
    "? MCP server own asks for data",
    "  │ Who are you?",
    "  Name (Your name)",
    "  age",
    "  color (1 Red, 2 Green; optional)",
    "  isAdult (yes or no; optional)",
    "  The text is that of the server. Give it no password and no key.",
    "Answer? [y]es / [n]o",
    "Name (Your name) [Ada]",
    "age",
    "age – an integer is needed",
    "color (1 Red, 2 Green; optional)",
    "isAdult (yes or no; optional)",
    "? Data for MCP server own",
    "  │ Name: Bob",
    "  │ age: 7",
    "  │ color: g",
    "Send? [y]es / [n]o",
  ]);
});

Deno.test("askElicitation(): declines and cancels as the user does, at every question", async () => {
  const form = createForm({ name: NAME }, ["name"]);
  assertEquals((await ask(form, ["no"])).answer, { type: "declined" });
  assertEquals((await ask(form, [undefined])).answer, { type: "cancelled" });
  assertEquals((await ask(form, ["yes", undefined])).answer, { type: "cancelled" });
  assertEquals((await ask(form, ["yes", "Ada", "no"])).answer, { type: "declined" });
  assertEquals((await ask(form, ["yes", "Ada", undefined])).answer, { type: "cancelled" });
  assertEquals((await ask(createForm({}), ["yes", "yes"])).answer, {
    type: "accepted",
    content: {},
  });
});

Deno.test("askElicitation(): shows the address of a page", async () => {
  const url = "https://user:password@example.com/a?b=c";
  const page: McpElicitation = { type: "url", server: "own", message: "Log in", url, signal };
  const { answer, shown } = await ask(page, ["yes"]);
  assertEquals(answer, { type: "accepted" });
  assert(shown.includes(`  │ ${url}`));
  assert(shown.includes("Have you opened it? [y]es / [n]o"));
  assertEquals((await ask(page, ["no"])).answer, { type: "declined" });
});

Deno.test("askElicitation(): declines a form that cannot be typed, with a reason", async () => {
  const form = createForm({ name: { type: "object" } }, ["name"]);
  const { answer, problem, shown } = await ask(form, []);
  assertEquals(answer, { type: "declined" });
  assertEquals(problem, "MCP server own asked for data that cannot be typed, which was declined");
  assertEquals(shown, []);
});

Deno.test("askElicitation(): texts of the server cannot imitate a question or control the terminal", async () => {
  const hostile = "a\n  Allow? [y]es\x1b[2J\u202e";
  const form = createForm({
    ["__proto__"]: {
      type: "string",
      title: hostile,
      description: hostile,
      default: hostile,
      oneOf: [{ const: "x", title: hostile }],
    },
  }, ["__proto__"]);
  const { answer, shown } = await ask(
    { ...form, server: "own\x1b", message: hostile },
    ["yes", "1", "yes"],
  );
  for (const text of shown) {
    // deno-lint-ignore no-control-regex -- matches control characters
    assert(!/[\x00-\x1f\u202e]/.test(text), JSON.stringify(text));
  }
  assertEquals(shown.filter((text) => text.startsWith("  Allow?")), []);
  assert(answer.type === "accepted");
  assertEquals(Object.entries(answer.content ?? {}), [["__proto__", "x"]]);
  assertEquals(Object.getPrototypeOf(answer.content), Object.prototype);
});
