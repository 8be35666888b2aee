import { assertEquals, assertStringIncludes } from "@std/assert";
import { TAGGED_CALLS } from "../prompt/call_format.ts";
import { type GrammarOptions, GrammarSwitch } from "./grammar_switch.ts";

const TOOL = { name: "f", description: "", parameters: { type: "object" } };

/** Creates a switch whose grammars are their numbers. */
async function createSwitch(options: Partial<GrammarOptions> = {}) {
  const texts: string[] = [];
  const grammar = await GrammarSwitch.create({
    tools: [TOOL],
    toolChoice: "auto",
    responseSchema: undefined,
    callFormat: TAGGED_CALLS,
    thinks: false,
    startsThinking: false,
    createGrammar: (text) => Promise.resolve({ number: texts.push(text) }),
    ...options,
  });
  return { grammar, texts };
}

Deno.test("GrammarSwitch: each call has a grammar of its own, and texts have none", async () => {
  const { grammar } = await createSwitch();
  const text = { phase: "text", isCallBlank: false, callCount: 0 } as const;
  const call = { phase: "call", isCallBlank: true, callCount: 0 } as const;
  assertEquals(grammar.select(text), undefined);
  const first = grammar.select(call);
  assertEquals(first, { number: 1 });
  assertEquals(grammar.select({ ...call, isCallBlank: false }), first);
  assertEquals(grammar.needsPreparation, true);
  await grammar.prepare();
  assertEquals(grammar.needsPreparation, false);
  assertEquals(grammar.select({ ...text, callCount: 1 }), undefined);
  assertEquals(grammar.select({ ...call, callCount: 1 }), { number: 2 });
});

Deno.test("GrammarSwitch: a call that a token has begun with its tag has no grammar", async () => {
  const { grammar } = await createSwitch();
  const begun = { phase: "call", isCallBlank: false, callCount: 0 } as const;
  assertEquals(grammar.select(begun), undefined);
  assertEquals(grammar.select({ ...begun, isCallBlank: true }), undefined);
  assertEquals(grammar.select({ ...begun, isCallBlank: true, callCount: 1 }), { number: 1 });
});

Deno.test("GrammarSwitch: a schema applies to the whole reply, after thinking that the prompt has begun", async () => {
  const responseSchema = { type: "boolean" };
  const start = { phase: "start", isCallBlank: false, callCount: 0 } as const;
  const plain = await createSwitch({ responseSchema, tools: [], thinks: true });
  assertEquals(plain.grammar.select(start), { number: 1 });
  assertEquals(plain.grammar.select({ ...start, phase: "thinking" }), { number: 1 });
  assertStringIncludes(plain.texts[0] ?? "", '("<think>"');
  const begun = await createSwitch({
    responseSchema,
    tools: [],
    thinks: true,
    startsThinking: true,
  });
  assertEquals(begun.grammar.select({ ...start, phase: "thinking" }), undefined);
  assertEquals(begun.grammar.select({ ...start, phase: "text" }), { number: 1 });
  assertEquals(begun.texts[0]?.includes("<think>"), false);
});

Deno.test("GrammarSwitch: a required call replaces the schema", async () => {
  const { texts } = await createSwitch({
    responseSchema: { type: "boolean" },
    toolChoice: "required",
  });
  assertStringIncludes(texts[0] ?? "", 'root ::= ("<tool_call>" content');
});
