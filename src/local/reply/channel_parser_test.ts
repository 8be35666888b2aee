import { assertEquals } from "@std/assert";
import { ChannelParser } from "./channel_parser.ts";

interface ParseOptions {
  readonly hasTools?: boolean;
  readonly stop?: readonly string[];
  readonly isComplete?: boolean;
}

/** Parses a reply that arrives in these parts. `h:` is thinking, `t:` a text, `c:` a call, and a period the end of one. */
function parse(
  parts: readonly string[],
  { hasTools = true, stop = [], isComplete = true }: ParseOptions = {},
) {
  const blocks: string[] = [];
  const append = (type: string, text: string) => {
    const last = blocks.at(-1);
    if (last?.startsWith(type)) blocks[blocks.length - 1] = last + text;
    else blocks.push(type + text);
  };
  const add = (text: string) => blocks.push((blocks.pop() ?? "") + text);
  const parser = new ChannelParser({
    hasTools,
    stop,
    writer: {
      open: (name) => blocks.push(`c:${name} `),
      writeArguments: add,
      close: () => add("."),
      writeText: (text) => append("t:", text),
      writeThinking: (text) => append("h:", text),
    },
  });
  for (const part of parts) parser.add(part);
  parser.end(isComplete);
  return { blocks, parser };
}

const ANALYSIS = "<|channel|>analysis<|message|>Hm, so.<|end|><|start|>assistant";
const CALL = '<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{"a":"}"}';

const CASES: readonly (readonly [text: string, blocks: readonly string[]])[] = [
  [`${ANALYSIS}<|channel|>final<|message|>Hello`, ["h:Hm, so.", "t:Hello"]],
  ["<|channel|>final<|message|>Hello <b>", ["t:Hello <b>"]],
  [`${ANALYSIS}${CALL}`, ["h:Hm, so.", 'c:weather {"a":"}"}.']],
  [`${CALL}<|call|>`, ['c:weather {"a":"}"}.']],
  [` to=functions.weather<|channel|>commentary json<|message|>{"a": 1}`, ['c:weather {"a": 1}.']],
  ["<|channel|>commentary to=python<|message|>print(1)", ["c:python print(1)."]],
  [
    `<|channel|>commentary<|message|>I look.<|end|><|start|>assistant${CALL}`,
    ["t:I look.", 'c:weather {"a":"}"}.'],
  ],
  [
    "<|channel|>commentary<|message|>One<|end|><|start|>assistant<|channel|>final<|message|>Two",
    ["t:One\n\nTwo"],
  ],
  // Headers as gpt-oss-20b writes some of them.
  ['<|channel|>analysis to=functions.f code<|message|>\n{"a":1}', ['c:f \n{"a":1}.']],
  ["<|channel|>commentary??<|end|><|start|>assistant<|channel|>analysis<|message|>Hm", ["h:Hm"]],
  [
    "<|channel|>commentary to=f<|end|><|start|>assistant<|channel|>final<|message|>Hello",
    ["t:Hello"],
  ],
  ["<|channel|>commentary to=assistant<|channel|>commentary?<|message|>Hello", ["t:Hello"]],
  ["Hello", ["t:Hello"]],
  ["t", ["t:t"]],
  ["to be", ["t:to be"]],
  ['{"a": 1}', ['t:{"a": 1}']],
  ["", []],
  ["<|channel|>final<|message|>", []],
  ["<|channel|>final", []],
  // Texts of markers in an answer and in arguments.
  ["<|channel|>final<|message|>It is <|end|> of it", ["t:It is <|end|> of it"]],
  [`<|channel|>final<|message|>a <|start|>${"b".repeat(500)}`, [
    `t:a <|start|>${"b".repeat(500)}`,
  ]],
  [
    `<|channel|>commentary to=functions.f<|message|>{"a": "<|end|>"}`,
    ['c:f {"a": "<|end|>"}.'],
  ],
  ["<|channel|>analysis<|message|>a < b<|end|>", ["h:a < b"]],
];

Deno.test("ChannelParser: divides the messages of gpt-oss, in parts of any length", () => {
  for (const [text, blocks] of CASES) {
    for (const length of [1, 3, 7, 1_000]) {
      const parts = text.match(new RegExp(`[^]{1,${length}}`, "g")) ?? [];
      assertEquals(parse(parts).blocks, blocks, `${length}: ${text}`);
    }
  }
});

Deno.test("ChannelParser: a call that is cut off stays open", () => {
  const text = '<|channel|>commentary to=functions.f<|message|>{"a": ';
  const { blocks, parser } = parse([text], { isComplete: false });
  assertEquals(blocks, ['c:f {"a": ']);
  assertEquals(parser.callCount, 1);
  assertEquals(parse([text]).blocks, ['c:f {"a": .']);
});

Deno.test("ChannelParser: a call without tools is text", () => {
  assertEquals(parse([CALL], { hasTools: false }).blocks, ['t:{"a":"}"}']);
});

Deno.test("ChannelParser: a text that ends the reply ends an answer, and neither thinking nor a call", () => {
  const options = { stop: ["so", '"a"'] };
  assertEquals(parse([`${ANALYSIS}<|channel|>final<|message|>A so b`], options).blocks, [
    "h:Hm, so.",
    "t:A ",
  ]);
  assertEquals(parse([CALL], options).blocks, ['c:weather {"a":"}"}.']);
  assertEquals(parse(["A so b"], options).parser.phase, "stopped");
});
