import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import type { ToolSpec } from "../../core/streams/stream.ts";
import { type CallFormat, findCallFormat, TAGGED_CALLS } from "../prompt/call_format.ts";
import { ReplyParser, type ReplyPhase } from "./reply_parser.ts";

interface ParseOptions {
  readonly replyStart?: string;
  readonly callFormat?: CallFormat | null;
  readonly tools?: readonly ToolSpec[];
  readonly stop?: readonly string[];
  readonly isComplete?: boolean;
}

function toTool(name: string, parameters: ToolSpec["parameters"] = {}): ToolSpec {
  return { name, description: "", parameters };
}

/** Parses a reply that arrives in parts; returns `t:` texts, `h:` thinking and `c:` calls. */
function parse(
  parts: readonly string[],
  { replyStart = "", callFormat = TAGGED_CALLS, stop = [], isComplete = true, ...options }:
    ParseOptions = {},
): { readonly blocks: readonly string[]; readonly phase: ReplyPhase; readonly calls: number } {
  const blocks: string[] = [];
  let open = "";
  const append = (type: string, text: string) => {
    if (open === type) blocks.push((blocks.pop() ?? "") + text);
    else blocks.push(`${type}:${text}`);
    open = type;
  };
  const parser = new ReplyParser({
    replyStart,
    callFormat: callFormat ?? undefined,
    stop,
    ...options,
    writer: {
      writeText: (text) => append("t", text),
      writeThinking: (text) => append("h", text),
      open: (name) => {
        open = "";
        append("c", `${name} `);
      },
      writeArguments: (text) => append("c", text),
      close: () => append("c", "."),
    },
  });
  for (const part of parts) parser.add(part);
  parser.end(isComplete);
  return { blocks, phase: parser.phase, calls: parser.callCount };
}

const CALL = '<tool_call>\n{"name": "f", "arguments": {"a": "}</tool_call>\\""}}\n</tool_call>';

const CASES: readonly (readonly [text: string, blocks: readonly string[]])[] = [
  ["Hello", ["t:Hello"]],
  ["\n\nHello\n", ["t:Hello\n"]],
  ["<think>\nHmm</think>\n\nHi", ["h:Hmm", "t:Hi"]],
  ["  <reasoning>a<think>b</reasoning>c", ["h:a<think>b", "t:c"]],
  ["<think></think>Hi", ["t:Hi"]],
  ["Write <think> in a text", ["t:Write <think> in a text"]],
  ["a < b <tool", ["t:a < b <tool"]],
  [
    '<tool_call>{"name": "f", "arguments": {}}</tool_call>\n<tool_call>{"name": "g", "arguments": {"x": [1]}}</tool_call>',
    ["c:f {}.", 'c:g {"x": [1]}.'],
  ],
  ['Look: <tool_call>{"arguments": {"x": 1}, "name": "f"}</tool_call> ok', [
    "t:Look: ",
    'c:f {"x":1}.',
    "t:ok",
  ]],
  ['<tool_call>{"arguments": {"x": 9007199254740993}, "name": "f"}</tool_call>', [
    'c:f {"x":9007199254740993}.',
  ]],
  ["<tool_call>nonsense</tool_call>", ["t:nonsense"]],
  [CALL, ['c:f {"a": "}</tool_call>\\""}.']],
  ['<tool_call>{"name": "f"}</tool_call>', ["c:f {}."]],
  ["", []],
];

Deno.test("ReplyParser: divides a reply into thinking, text and calls, however it is split", () => {
  for (const [text, blocks] of CASES) {
    assertEquals(parse([text]).blocks, blocks, text);
    assertEquals(parse([...text]).blocks, blocks, `${text} in characters`);
  }
  fc.assert(fc.property(
    fc.constantFrom(...CASES),
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
    ([text, blocks], lengths) => {
      const parts: string[] = [];
      for (let rest = text; rest !== "";) {
        const length = lengths[parts.length % lengths.length] ?? 1;
        parts.push(rest.slice(0, length));
        rest = rest.slice(length);
      }
      assertEquals(parse(parts).blocks, blocks);
    },
  ));
});

Deno.test("ReplyParser: a prompt that begins the thinking is continued", () => {
  const options = { replyStart: "<think>\n" };
  assertEquals(parse(["Hmm</th", "ink>\nHi"], options).blocks, ["h:Hmm", "t:Hi"]);
  const ended = { replyStart: "<think>\n\n</think>\n\n" };
  assertEquals(parse(["Hi"], ended).blocks, ["t:Hi"]);
});

Deno.test("ReplyParser: without tools, a call is text", () => {
  const text = "<tool_call>{}</tool_call>";
  assertEquals(parse([text], { callFormat: null }).blocks, [`t:${text}`]);
});

Deno.test("ReplyParser: a stop text ends the reply, in texts but not in thinking", () => {
  const { blocks, phase } = parse(["<think>END</think>a", "E", "N", "Db"], { stop: ["END"] });
  assertEquals([blocks, phase], [["h:END", "t:a"], "stopped"]);
});

Deno.test("ReplyParser: a call that is not complete stays open", () => {
  const text = '<tool_call>{"name": "f", "arguments": {"a": "b';
  const { blocks, calls } = parse([text], { isComplete: false });
  assertEquals([blocks, calls], [['c:f {"a": "b'], 1]);
});

Deno.test("ReplyParser: reads the lists of Mistral and the objects of Llama", () => {
  const listed = findCallFormat("{{ '[TOOL_CALLS]' }}");
  const text =
    '[TOOL_CALLS][{"name": "f", "arguments": {"a": "x, [y"}}, {"name": "g", "arguments": {}}]';
  const calls = ['c:f {"a": "x, [y"}.', "c:g {}."];
  assertEquals(parse([text], { callFormat: listed }).blocks, calls);
  assertEquals(parse([...text], { callFormat: listed }).blocks, calls);
  const bare = findCallFormat('{% if tools %}{"name": …, "parameters": …}{% endif %}');
  const object = '{"name": "f", "parameters": {"a": 1}}';
  assertEquals(parse([object], { callFormat: bare }).blocks, ['c:f {"a": 1}.']);
  assertEquals(parse(["{ plain }"], { callFormat: bare }).blocks, ["t:{ plain }"]);
});

const LISTED = findCallFormat("{{ '[TOOL_CALLS]' }}");
const NAMED = findCallFormat("{{ '[TOOL_CALLS]' + name + '[ARGS]' + args }}");
const BARE = findCallFormat('{% if tools %}{"name": …, "parameters": …}{% endif %}');

const FORMAT_CASES: readonly (readonly [CallFormat, text: string, blocks: readonly string[]])[] = [
  [BARE, '{"name": "f", "parameters": {"a": 1}}', ['c:f {"a": 1}.']],
  [BARE, '\n{ "type": "function", "name": "f", "parameters": {}}', ["c:f {}."]],
  [BARE, '<think>Hm</think>\n{"name": "f", "parameters": {}}', ["h:Hm", "c:f {}."]],
  [BARE, '<|python_tag|>{"name": "f", "parameters": {}}', ["c:f {}."]],
  [
    BARE,
    '{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}',
    ["c:f {}.", "c:g {}."],
  ],
  [BARE, "<|python_tag|>print(1); 2", ["t:<|python_tag|>print(1); 2"]],
  [BARE, '{"names": []}', ['t:{"names": []}']],
  [BARE, '{"na', ['t:{"na']],
  [BARE, "{<think>", ["t:{<think>"]],
  [BARE, 'It is {"name": "f"}', ['t:It is {"name": "f"}']],
  [LISTED, '[TOOL_CALLS] [{"name": "f", "arguments": {}}]', ["c:f {}."]],
  [LISTED, '[TOOL_CALLS][{"name": "f", "arguments": {}}] Done', ["c:f {}.", "t:Done"]],
  [LISTED, '[TOOL_CALLS][{"name": "f", "arguments": {}}] [1] it', ["c:f {}.", "t:[1] it"]],
  [LISTED, '[TOOL_CALLS][{"name": "f"}][TOOL_CALLS][{"name": "g"}]', ["c:f {}.", "c:g {}."]],
  [LISTED, "[TOOL_CALLS]Sorry, none", ["t:Sorry, none"]],
  [LISTED, "a [TOOL_CALLS][x]y", ["t:a x]y"]],
  [NAMED, '[TOOL_CALLS]f[ARGS]{"a": "[ARGS]}"}', ['c:f {"a": "[ARGS]}"}.']],
  [NAMED, 'Look.[TOOL_CALLS]f[CALL_ID]a1b2c3d4e[ARGS]{}[TOOL_CALLS]g[ARGS]{"b": [1]}', [
    "t:Look.",
    "c:f {}.",
    'c:g {"b": [1]}.',
  ]],
  [NAMED, '[TOOL_CALLS]f[ARGS]{"a": 1} Done', ['c:f {"a": 1}.', "t:Done"]],
  [NAMED, "[TOOL_CALLS]Sorry, none", ["t:[TOOL_CALLS]Sorry, none"]],
  [NAMED, `It is [TOOL_CALLS]${"a ".repeat(150)}`, [`t:It is [TOOL_CALLS]${"a ".repeat(150)}`]],
];

Deno.test("ReplyParser: reads the thinking of Gemma 4", () => {
  const text = "<|channel>thought\nHm\n<channel|>Hello";
  assertEquals(parse([...text]).blocks, ["h:Hm\n", "t:Hello"]);
});

Deno.test("ReplyParser: an object with the name of no tool is a call only if it has arguments", () => {
  const read = (text: string, isComplete = true) =>
    parse([...text], { callFormat: BARE, tools: [toTool("f")], isComplete });
  const answer = '{"name": "Ada", "age": 36}';
  assertEquals(read(answer), { blocks: [`t:${answer}`], phase: "text", calls: 0 });
  assertEquals(read('{"name": "f"}').blocks, ["c:f {}."]);
  assertEquals(read('{"name": "g", "parameters": {}}').blocks, ["c:g {}."]);
  assertEquals(read('{"parameters": {}, "name": "g"}').blocks, [
    't:{"parameters": {}, "name": "g"}',
  ]);
});

Deno.test("ReplyParser: keeps an object that is not complete and may be an answer as text", () => {
  const text = '{"name": "Ada", "age": 3';
  const { blocks } = parse([...text], { callFormat: BARE, isComplete: false });
  assertEquals(blocks, [`t:${text}`]);
  const call = '{"name": "f", "parameters": {"a": 3';
  assertEquals(parse([...call], { callFormat: BARE, isComplete: false }).blocks, [
    'c:f {"a": 3',
  ]);
});

Deno.test("ReplyParser: reads the calls of every format, however the text is split", () => {
  for (const [callFormat, text, blocks] of FORMAT_CASES) {
    for (let size = 1; size <= text.length; size++) {
      const parts = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      assertEquals(parse(parts, { callFormat }).blocks, blocks, `${text} in parts of ${size}`);
    }
  }
});

Deno.test("ReplyParser: loses no text that is no call", () => {
  const piece = fc.constantFrom("{", '"', "name", '"name', ":", " ", "\n", "]", "[", "<", "a", ",");
  const text = fc.array(piece, { minLength: 1 });
  fc.assert(
    fc.property(text, fc.constantFrom(BARE, LISTED, NAMED, TAGGED_CALLS), (parts, callFormat) => {
      const { blocks, calls } = parse(parts, { callFormat });
      if (calls > 0) return;
      assertEquals(blocks.join(""), `t:${parts.join("").trimStart()}`.replace(/^t:$/, ""));
    }),
  );
  const spaces = `{${" ".repeat(1_000)}`;
  assertEquals(parse([...spaces], { callFormat: BARE }).blocks, [`t:${spaces}`]);
});

Deno.test("ReplyParser: accepts any text in time that is linear in its length", () => {
  const tag = fc.constantFrom(
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "{",
    "}",
    '"',
    "a",
  );
  fc.assert(fc.property(fc.array(fc.oneof(tag, fc.string()), { maxLength: 50 }), (parts) => {
    parse(parts);
    parse(parts, { isComplete: false, callFormat: findCallFormat("[TOOL_CALLS]") });
  }));
  const getThreadTime = startThreadTimer();
  parse(Array.from({ length: 100_000 }, () => "<tool_cal "));
  if (getThreadTime() > 5_000) throw new Error("too slow");
});

const FUNCTIONS = findCallFormat("<tool_call><function=");
const FUNCTION_TOOLS = [
  toTool("edit", {
    type: "object",
    properties: {
      path: { type: "string" },
      mode: { enum: ["a", "b"] },
      note: { anyOf: [{ type: "string" }, { type: "null" }] },
      line: { type: "integer" },
      all: { type: "boolean" },
      list: { type: "array" },
    },
  }),
];
const EDIT = "<function=edit>\n<parameter=path>\na.ts\n</parameter>\n</function>";

const FUNCTION_CASES: readonly (readonly [text: string, blocks: readonly string[]])[] = [
  [`I look.\n\n${EDIT}\n</tool_call>`, ["t:I look.\n\n", 'c:edit {"path":"a.ts"}.']],
  [`<think>Hm</think>\n${EDIT}`, ["h:Hm", 'c:edit {"path":"a.ts"}.']],
  [`${EDIT}\n</tool_call>\n${EDIT}\n</tool_call>\nDone`, [
    'c:edit {"path":"a.ts"}.',
    'c:edit {"path":"a.ts"}.',
    "t:Done",
  ]],
  [`${EDIT}\n</tool_call>\n<tool_call>{"name": "edit", "arguments": {}}</tool_call>`, [
    'c:edit {"path":"a.ts"}.',
    "c:edit {}.",
  ]],
  [
    "<function=edit><parameter=line>7</parameter><parameter=all>True</parameter><parameter=list>[1]</parameter><parameter=path>7</parameter><parameter=note>None</parameter><parameter=other>{</parameter></function>",
    ['c:edit {"line":7,"all":true,"list":[1],"path":"7","note":"None","other":"{"}.'],
  ],
  [
    "<function=edit>\n<parameter=path>\n\n  x </function> </p>\n\n</parameter>\n</function>",
    ['c:edit {"path":"\\n  x </function> </p>\\n"}.'],
  ],
  ["<function=edit>\n</function>", ["c:edit {}."]],
  [`I look.<tool_call>\n${EDIT}\n</tool_call>`, ["t:I look.", 'c:edit {"path":"a.ts"}.']],
  ["<function=edit>\n<parameter=path>\na.ts\n</parameter>\n", ['c:edit {"path":"a.ts"}.']],
  // Texts that are no calls.
  [
    "Write <function=NAME> and </function></tool_call>.",
    ["t:Write <function=NAME> and </function></tool_call>."],
  ],
  ["The tag <function=edit> begins it", ["t:The tag <function=edit> begins it"]],
  ["The tag <function= begins it", ["t:The tag <function= begins it"]],
  ["</tool_call> ends it", ["t:</tool_call> ends it"]],
];

Deno.test("ReplyParser: reads calls with tags of functions, which Qwen3-Coder writes without their start", () => {
  const options = { callFormat: FUNCTIONS, tools: FUNCTION_TOOLS };
  for (const [text, blocks] of FUNCTION_CASES) {
    assertEquals(parse([text], options).blocks, blocks, text);
    assertEquals(parse([...text], options).blocks, blocks, text);
  }
  assertEquals(parse([EDIT]).blocks, [`t:${EDIT}`], "of another model");
});

Deno.test("ReplyParser: a call of Mistral that is cut off stays open", () => {
  const options = { callFormat: NAMED, isComplete: false };
  const { blocks, calls } = parse(['[TOOL_CALLS]f[ARGS]{"a": '], options);
  assertEquals([blocks, calls], [['c:f {"a": '], 1]);
});

Deno.test("ReplyParser: a call with tags of functions that is cut off stays open", () => {
  const options = { callFormat: FUNCTIONS, tools: FUNCTION_TOOLS, isComplete: false };
  const { blocks, calls } = parse([EDIT.slice(0, -20)], options);
  assertEquals([blocks, calls], [["c:edit "], 1]);
  assertEquals(parse(["<function=e"], options).blocks, ["t:<function=e"]);
});

const EDIT_CALL = '<tool_call>\n{"name": "edit", "arguments": {}}\n</tool_call>';
const THINKING_CALL_CASES: readonly (readonly [text: string, blocks: readonly string[]])[] = [
  [`<think>Hm\n<tool_call>\n${EDIT}\n</tool_call>`, ["h:Hm\n", 'c:edit {"path":"a.ts"}.']],
  [`<think>Hm<tool_call>${EDIT}</tool_call>\n</think>\n\n`, ["h:Hm", 'c:edit {"path":"a.ts"}.']],
  [`<think>Hm<tool_call>${EDIT}</tool_call>\n${EDIT_CALL}\n`, [
    "h:Hm",
    'c:edit {"path":"a.ts"}.',
    "c:edit {}.",
  ]],
  ['<think>Hm<tool_call>\n{"name": "edit", "arguments": {}}\n</tool_call>\n</think>', [
    "h:Hm",
    "c:edit {}.",
  ]],
  [`<think>Write <tool_call> and ${EDIT}</think>Done`, [
    `h:Write <tool_call> and ${EDIT}`,
    "t:Done",
  ]],
  // Drafts, as Qwen3 writes some.
  [`<think>So ${EDIT_CALL}\nYes.</think>\n\n${EDIT_CALL}`, [
    `h:So ${EDIT_CALL}\nYes.`,
    "c:edit {}.",
  ]],
  [`<think>So ${EDIT_CALL}\n</think>\n\n${EDIT_CALL}`, [`h:So ${EDIT_CALL}`, "c:edit {}."]],
  [`<think>So ${EDIT_CALL}, if allowed.</think>May I?`, [
    `h:So ${EDIT_CALL}, if allowed.`,
    "t:May I?",
  ]],
  [`<think>So ${EDIT_CALL}</think>May I?`, [`h:So ${EDIT_CALL}`, "t:May I?"]],
  [`<think>So ${EDIT_CALL} and ${EDIT_CALL}</think>`, [
    `h:So ${EDIT_CALL} and `,
    "c:edit {}.",
  ]],
  ['<think>So <tool_call>{"name": "edit" and so on</think>May I?', [
    'h:So <tool_call>{"name": "edit" and so on',
    "t:May I?",
  ]],
  [
    `<think>Hm<tool_call>{"name": "edit", "arguments": {"path": "</think></tool_call>"}}</tool_call>`,
    ["h:Hm", 'c:edit {"path": "</think></tool_call>"}.'],
  ],
  ["<think>Hm</think>Write </think>", ["h:Hm", "t:Write </think>"]],
];

Deno.test("ReplyParser: reads a call at the end of the thinking, which Qwen3.5 does not end before some calls, and no drafts of calls", () => {
  const options = { callFormat: FUNCTIONS, tools: FUNCTION_TOOLS };
  for (const [text, blocks] of THINKING_CALL_CASES) {
    assertEquals(parse([text], options).blocks, blocks, text);
    assertEquals(parse([...text], options).blocks, blocks, text);
    const begun = { ...options, replyStart: "<think>\n" };
    assertEquals(parse([...text.slice("<think>".length)], begun).blocks, blocks, text);
  }
  const [[text] = [""]] = THINKING_CALL_CASES;
  assertEquals(parse([text], { callFormat: null }).blocks, [`h:${text.slice("<think>".length)}`]);
});

Deno.test("ReplyParser: a call of which a part was written is not blank, also if that is a part of the name", () => {
  const writer = {
    writeText: () => {},
    writeThinking: () => {},
    open: () => {},
    writeArguments: () => {},
    close: () => {},
  };
  const isBlank = (callFormat: CallFormat, text: string) => {
    const tools = FUNCTION_TOOLS;
    const parser = new ReplyParser({ replyStart: "", callFormat, tools, stop: [], writer });
    parser.add(text);
    assertEquals(parser.phase, "call", text);
    return parser.isCallBlank;
  };
  assert(isBlank(NAMED, "[TOOL_CALLS]"));
  assert(isBlank(NAMED, "[TOOL_CALLS] "));
  assert(!isBlank(NAMED, "[TOOL_CALLS]f"));
  assert(isBlank(FUNCTIONS, "<tool_call>\n"));
  assert(!isBlank(FUNCTIONS, "<tool_call>\n<function=edit>"));
  assert(!isBlank(FUNCTIONS, `<tool_call>${EDIT}</tool_call><function=`));
});
