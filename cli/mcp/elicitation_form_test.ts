import { assertEquals } from "@std/assert";
import { type FormField, parseElicitationForm, parseFieldAnswer } from "./elicitation_form.ts";

function parseField(property: Record<string, unknown>, isRequired = true): FormField {
  const required = isRequired ? ["a"] : [];
  const [field] = parseElicitationForm({ type: "object", properties: { a: property }, required }) ??
    [];
  if (!field) throw new Error("no field");
  return field;
}

/** Returns the value of an answer, or what is wrong with it. */
function answer(property: Record<string, unknown>, line: string): unknown {
  const parsed = parseFieldAnswer(parseField(property), line);
  return parsed.type === "value" ? parsed.value : parsed.type === "invalid" ? parsed.hint : parsed;
}

Deno.test("parseElicitationForm(): reads labels, explanations and suggestions, and cuts them off", () => {
  const [field, other] = parseElicitationForm({
    type: "object",
    properties: {
      a: { type: "string", title: "x".repeat(300), description: "Why", default: "Ada" },
      b: { type: "string", title: 5, default: "y".repeat(300) },
    },
    required: ["b"],
  }) ?? [];
  assertEquals(
    [field?.label.length, field?.description, field?.initial, field?.isRequired],
    [200, "Why", "Ada", false],
  );
  assertEquals([other?.label, other?.initial, other?.isRequired], ["b", undefined, true]);
});

Deno.test("parseElicitationForm(): a suggestion is an answer that is accepted as it is", () => {
  const items = { type: "string", enum: ["red", "blue"] };
  for (
    const property of [
      { type: "boolean", default: true },
      { type: "boolean", default: false },
      { type: "integer", default: 0 },
      { type: "string", enum: ["red", "blue"], default: "blue" },
      { type: "array", items, default: ["red", "blue"] },
    ]
  ) {
    assertEquals(answer(property, parseField(property).initial ?? ""), property.default);
  }
  for (const suggested of [null, {}, []]) {
    assertEquals(parseField({ type: "array", items, default: suggested }).initial, undefined);
  }
});

Deno.test("parseElicitationForm(): refuses forms that cannot be typed, and leaves out optional parts of them", () => {
  const nested = { type: "object", properties: {} };
  const many = Object.fromEntries(
    Array.from({ length: 65 }, (_, n) => [`p${n}`, { type: "string" }]),
  );
  for (
    const schema of [
      {},
      { type: "object" },
      { type: "object", properties: [] },
      { type: "object", properties: { a: nested }, required: ["a"] },
      { type: "object", properties: { a: true }, required: ["a"] },
      { type: "object", properties: { a: { type: "array", items: nested } }, required: ["a"] },
      { type: "object", properties: many },
    ]
  ) {
    assertEquals(parseElicitationForm(schema), undefined, JSON.stringify(schema));
  }
  const { p64: _last, ...most } = many;
  assertEquals(parseElicitationForm({ type: "object", properties: most })?.length, 64);
  const properties = { a: nested, b: { type: "string" } };
  assertEquals(parseElicitationForm({ type: "object", properties })?.map(({ name }) => name), [
    "b",
  ]);
});

Deno.test("parseFieldAnswer(): an empty line omits an optional field only", () => {
  for (const type of ["string", "number", "integer", "boolean"]) {
    assertEquals(answer({ type }, "  "), "an answer is needed");
    assertEquals(parseFieldAnswer(parseField({ type }, false), "  "), { type: "omitted" });
  }
});

Deno.test("parseFieldAnswer(): checks texts, their lengths and formats", () => {
  assertEquals(answer({ type: "string" }, " Ada "), "Ada");
  assertEquals(answer({ type: "string", minLength: 4 }, "Ada"), "at least 4 characters are needed");
  assertEquals(answer({ type: "string", maxLength: 2 }, "Ada"), "at most 2 characters are allowed");
  assertEquals(answer({ type: "string", maxLength: 2 }, "👋👋"), "👋👋");
  const formats = [
    ["email", "ada@example.com", "ada"],
    ["uri", "https://example.com/a", "example"],
    ["date", "2026-01-31", "2026-31-01"],
    ["date-time", "2026-01-31T12:00:00Z", "2026-01-31"],
  ] as const;
  for (const [format, valid, invalid] of formats) {
    assertEquals(answer({ type: "string", format }, valid), valid);
    assertEquals(String(answer({ type: "string", format }, invalid)).endsWith("is needed"), true);
  }
  assertEquals(answer({ type: "string", format: "other" }, "x"), "x");
});

Deno.test("parseFieldAnswer(): checks numbers, integers and booleans", () => {
  assertEquals(answer({ type: "number" }, "-1.5e2"), -150);
  assertEquals(answer({ type: "integer" }, "7"), 7);
  for (const text of ["x", "1,5", "Infinity", "NaN", "0x10", "1e999", ""]) {
    assertEquals(typeof answer({ type: "number" }, text), "string", text);
  }
  for (const text of ["1.5", "9007199254740993"]) {
    assertEquals(answer({ type: "integer" }, text), "an integer is needed");
  }
  assertEquals(answer({ type: "number", minimum: 0 }, "-1"), "the least is 0");
  assertEquals(answer({ type: "number", maximum: 5 }, "6"), "the most is 5");
  assertEquals(answer({ type: "number", minimum: 0, maximum: 0 }, "0"), 0);
  assertEquals(["y", "YES", "true"].map((text) => answer({ type: "boolean" }, text)), [
    true,
    true,
    true,
  ]);
  assertEquals(["n", "No", "false"].map((text) => answer({ type: "boolean" }, text)), [
    false,
    false,
    false,
  ]);
  assertEquals(answer({ type: "boolean" }, "1"), "yes or no is needed");
});

Deno.test("parseFieldAnswer(): accepts options by number, value and label", () => {
  const forms = [
    { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] },
    { type: "string", anyOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] },
  ];
  for (const form of forms) {
    assertEquals(["2", "g", "green"].map((text) => answer(form, text)), ["g", "g", "g"]);
    for (const text of ["0", "3", "x", "-1", "1.0"]) {
      assertEquals(answer(form, text), "a number from 1 to 2 is needed", text);
    }
  }
  // The value of an option precedes the number of another one.
  assertEquals(answer({ type: "string", enum: ["2", "1"] }, "1"), "1");
  assertEquals(answer({ type: "string", enum: ["r", 5] }, "x"), "x");
});

Deno.test("parseFieldAnswer(): accepts several options", () => {
  const form = { type: "array", items: { enum: ["a", "b", "c"] }, minItems: 2, maxItems: 2 };
  assertEquals(answer(form, "1, c"), ["a", "c"]);
  assertEquals(answer(form, "1, 1"), "at least 2 are needed");
  assertEquals(answer(form, "a,b,c"), "at most 2 are allowed");
  assertEquals(answer(form, "a,x"), "numbers from 1 to 3, with commas, are needed");
});
