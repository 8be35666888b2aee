import { assert, assertEquals, assertThrows } from "@std/assert";
import { startThreadTimer } from "../../../tests/thread_time.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { type IsolatedResponse, RESPONSE_PREFIX } from "./isolated_protocol.ts";
import { ResponseParser, type ResponseParserOptions } from "./response_parser.ts";

/** Parses an output that arrives in chunks of a size. */
function parseOutput(
  output: string | Uint8Array,
  { chunkSize = Infinity, ...options }:
    & Omit<ResponseParserOptions, "onResponse">
    & { readonly chunkSize?: number } = {},
): IsolatedResponse[] {
  const responses: IsolatedResponse[] = [];
  const parser = new ResponseParser({
    ...options,
    onResponse: (response) => responses.push(response),
  });
  const bytes = typeof output === "string" ? new TextEncoder().encode(output) : output;
  for (let start = 0; start < bytes.length; start += chunkSize) {
    parser.push(bytes.subarray(start, start + chunkSize));
  }
  return responses;
}

const toLine = (text: string) => `${RESPONSE_PREFIX}${text}\n`;
const UPDATE = toLine('{"type":"update","update":"ü 1"}');
const RESULT = toLine('{"type":"result","result":{"content":[{"type":"text","text":"done"}]}}');

Deno.test("ResponseParser: reads responses between other output, in chunks of any size", () => {
  const output = `print\n${UPDATE}binary \0\xff\n\n${RESULT}${RESPONSE_PREFIX}{"type":`;
  for (const chunkSize of [1, 2, 3, 7, 1_000]) {
    assertEquals(parseOutput(output, { chunkSize }), [
      { type: "update", update: "ü 1" },
      { type: "result", result: { content: [{ type: "text", text: "done" }] } },
    ]);
  }
});

const INVALID: readonly (readonly [name: string, text: string, reason: string])[] = [
  ["a truncated response", '{"type":"result","resu', "JSON"],
  ["a response with other output in it", '{"type":"resnoise', "JSON"],
  ["bytes that are no text", "\ufffd\0\ufffd", "JSON"],
  ["no object", "[1]", "it is not an object"],
  ["null", "null", "it is not an object"],
  ["an unknown type", '{"type":"exit"}', 'its type is "exit"'],
  ["no type", "{}", "its type is undefined"],
  ["a result without content", '{"type":"result"}', "{ content: [...] }"],
  ["a result with a wrong block", '{"type":"result","result":{"content":[5]}}', "content"],
  ["an update that is a number", '{"type":"update","update":5}', "{ content: [...] }"],
  ["a description without a name", '{"type":"description","description":{}}', "lacks name"],
  [
    "a description whose name is no string",
    '{"type":"description","description":{"name":5,"description":"d","parameters":{}}}',
    "lacks name",
  ],
  [
    "a description without a text",
    '{"type":"description","description":{"name":"n","parameters":{}}}',
    "lacks name",
  ],
  [
    "a description whose parameters are no object",
    '{"type":"description","description":{"name":"n","description":"d","parameters":[]}}',
    "lacks name",
  ],
  ["a description that is null", '{"type":"description","description":null}', "not an object"],
  ["a deeply nested result", `{"type":"result","result":${"[".repeat(100_000)}`, "JSON"],
];

for (const [name, text, reason] of INVALID) {
  Deno.test(`ResponseParser: throws a BadRequestError for ${name}`, () => {
    const { message } = assertThrows(() => parseOutput(toLine(text)), BadRequestError);
    assert(message.startsWith("The tool sent an invalid response: "), message);
    assert(message.includes(reason), message);
  });
}

Deno.test("ResponseParser: limits the length of a response, but not of other output", () => {
  const limits = { maxCharacters: 200, chunkSize: 64 };
  assertEquals(parseOutput(`${"x".repeat(10_000)}\n${UPDATE}`, limits).length, 1);
  assertThrows(
    () => parseOutput(toLine("x".repeat(10_000)), limits),
    BadRequestError,
    "The tool sent a response that is too long",
  );
});

Deno.test("ResponseParser: reads no response in the rest of a long line", () => {
  for (const [length, maxCharacters] of [[256, 200], [64, 63], [640, 100]] as const) {
    const options = { maxCharacters, chunkSize: 64 };
    assertEquals(parseOutput(`${"x".repeat(length)}${UPDATE}${UPDATE}`, options).length, 1);
  }
});

Deno.test("ResponseParser: reads a response of 20 MB in small chunks in linear time", () => {
  const text = "x".repeat(20_000_000);
  const getThreadTime = startThreadTimer();
  const [response] = parseOutput(toLine(JSON.stringify({ type: "error", message: text })), {
    chunkSize: 16_384,
  });
  assertEquals(response, { type: "error", message: text });
  // Takes 0.2 s; quadratic work takes minutes.
  assert(getThreadTime() < 10_000);
});
