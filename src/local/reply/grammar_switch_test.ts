import { assertEquals, assertStringIncludes } from "@std/assert";
import { type CallFormat, findCallFormat, TAGGED_CALLS } from "../prompt/call_format.ts";
import { type GrammarOptions, GrammarSwitch } from "./grammar_switch.ts";
import { ReplyParser } from "./reply_parser.ts";

const TOOL = { name: "f", description: "", parameters: { type: "object" } };

/** Creates a parser whose parts are not of interest. */
function createParser(callFormat: CallFormat): ReplyParser {
  const ignore = () => {};
  const writer = {
    open: ignore,
    writeArguments: ignore,
    close: ignore,
    writeText: ignore,
    writeThinking: ignore,
  };
  return new ReplyParser({ replyStart: "", callFormat, stop: [], writer });
}

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
  const text = { phase: "text", isCallBlank: false, openedCount: 0 } as const;
  const call = { phase: "call", isCallBlank: true, openedCount: 0 } as const;
  assertEquals(grammar.select(text), undefined);
  const first = grammar.select(call);
  assertEquals(first, { number: 1 });
  assertEquals(grammar.select({ ...call, isCallBlank: false }), first);
  assertEquals(grammar.needsPreparation, true);
  await grammar.prepare();
  assertEquals(grammar.needsPreparation, false);
  assertEquals(grammar.select({ ...text, openedCount: 1 }), undefined);
  assertEquals(grammar.select({ ...call, openedCount: 1 }), { number: 2 });
});

Deno.test("GrammarSwitch: a call that a token has begun with its tag has no grammar", async () => {
  const { grammar } = await createSwitch();
  const begun = { phase: "call", isCallBlank: false, openedCount: 0 } as const;
  assertEquals(grammar.select(begun), undefined);
  assertEquals(grammar.select({ ...begun, isCallBlank: true }), undefined);
  assertEquals(grammar.select({ ...begun, isCallBlank: true, openedCount: 1 }), { number: 1 });
});

Deno.test("GrammarSwitch: a schema applies to the whole reply, after thinking that the prompt has begun", async () => {
  const responseSchema = { type: "boolean" };
  const start = { phase: "start", isCallBlank: false, openedCount: 0 } as const;
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

Deno.test("GrammarSwitch: the calls of a list have one grammar, and the next list another one", async () => {
  const callFormat = findCallFormat("[TOOL_CALLS]");
  const { grammar } = await createSwitch({ callFormat });
  const parser = createParser(callFormat);
  const selected: unknown[] = [];
  const tokens = [
    "[TOOL_CALLS]",
    '[{"name": "f", "arguments": {}}',
    ", ",
    '{"name": "f", "arguments": {}}',
    "]",
    "[TOOL_CALLS]",
    "[",
  ];
  for (const token of tokens) {
    await grammar.prepare();
    selected.push(grammar.select(parser));
    parser.add(token);
  }
  const [first, second] = [{ number: 1 }, { number: 2 }];
  assertEquals(selected, [undefined, first, first, first, first, undefined, second]);
});
