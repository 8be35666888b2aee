import { assertEquals } from "@std/assert";
import { corruptBytes } from "../../../src/testing/faulty_body.ts";
import { seededRandom } from "../../../src/testing/seeded_random.ts";
import { DeltaTemplate } from "./delta_template.ts";

interface Value {
  readonly content?: string;
  readonly a?: { readonly content?: string };
}

const getDelta = (value: Value) => value.a?.content;

interface Template {
  learn(text: string, delta: string): void;
  /** Returns the delta of a text, if it matches. */
  match(text: string): string | undefined;
}

function createTemplate(text?: string, delta = "x"): Template {
  const template = new DeltaTemplate<Value>("content", getDelta);
  let last: string | undefined;
  const learn = (next: string, nextDelta: string) =>
    template.learn(next, nextDelta, (found) => (last = found));
  if (text !== undefined) learn(text, delta);
  return { learn, match: (next) => template.read(next) ? last : undefined };
}

Deno.test("DeltaTemplate: returns the deltas of texts that are otherwise the same", () => {
  for (const space of ["", " "]) {
    const format = (delta: string) =>
      `{"id":1,"a":{"content":${space}${JSON.stringify(delta)}},"b":[]}`;
    const template = createTemplate(format("x"));
    for (const delta of ["", "y", 'say "}" \\', "ü\n👋", '","b":"']) {
      assertEquals(template.match(format(delta)), delta);
    }
  }
});

Deno.test("DeltaTemplate: does not match texts that differ elsewhere or are no single string", () => {
  const template = createTemplate('{"a":{"content":"x"},"b":1}');
  for (
    const text of [
      '{"a":{"content":"x"},"b":2}',
      '{"a":{"content":"x","c":1},"b":1}',
      '{"a":{"content":"x"},"d":{"content":"y"},"b":1}',
      '{"a":{"content":null},"b":1}',
      '{"a":{"content":},"b":1}',
      '{"a":{"content":"x" "y"},"b":1}',
      '{"a":{"content":"x\n"},"b":1}',
      '{"a":{"content":"},"b":1}',
      "",
    ]
  ) assertEquals(template.match(text), undefined, text);
});

Deno.test("DeltaTemplate: is not created from a member in another place, or from an escaped delta", () => {
  assertEquals(
    createTemplate('{"content":"x","a":{"content":"x"}}').match(
      '{"content":"y","a":{"content":"x"}}',
    ),
    undefined,
  );
  const inText = '{"b":"\\"content\\":","a":{"content":"x"}}';
  assertEquals(createTemplate(inText).match(inText), "x");
  assertEquals(
    createTemplate('{"a":{"content":"\\u0078"}}').match('{"a":{"content":"y"}}'),
    undefined,
  );
});

Deno.test("DeltaTemplate: gives up after texts that repeat nothing", () => {
  const template = createTemplate();
  const format = (id: number) => `{"id":${id},"a":{"content":"x"}}`;
  for (let id = 1; id <= 5; id++) template.learn(format(id), "x");
  assertEquals([4, 5].map((id) => template.match(format(id))), ["x", undefined]);
});

Deno.test("DeltaTemplate: a match has the value that JSON.parse gives, for 20,000 corrupted texts", () => {
  const random = seededRandom(5);
  const format = (delta: string) =>
    `{"id":1,"a":{"content":${JSON.stringify(delta)}},"b":"content"}`;
  const template = createTemplate(format("x"));
  let matches = 0;
  for (let round = 0; round < 20_000; round++) {
    const bytes = corruptBytes(new TextEncoder().encode(format('a "b" \\ {}')), random);
    const text = new TextDecoder().decode(bytes);
    const delta = template.match(text);
    if (delta === undefined) continue;
    matches++;
    assertEquals(JSON.parse(text), { id: 1, a: { content: delta }, b: "content" });
  }
  assertEquals(matches > 1000, true);
});
