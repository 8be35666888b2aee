import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { compileSchema } from "../../src/core/schemas/compile_schema.ts";
import { startThreadTimer } from "../thread_time.ts";
import { connectMock, MockServer } from "./mock_server.ts";
import { nest } from "./nested_schema.ts";

/** Returns the names and the warnings that a list of tools causes. */
async function listTools(
  tools: readonly unknown[],
): Promise<{ readonly names: readonly string[]; readonly warnings: readonly string[] }> {
  const warnings: string[] = [];
  const onWarning = ({ message }: { readonly message: string }) => void warnings.push(message);
  await using mcp = await connectMock(new MockServer({ tools }), { onWarning });
  assertEquals(mcp.servers[0]?.state, { type: "ready" });
  return { names: mcp.servers[0]?.tools ?? [], warnings };
}

Deno.test("hostile lists: one invalid tool does not hide the others", async () => {
  const schema = { type: "object" };
  const { names, warnings } = await listTools([
    null,
    {},
    { name: "" },
    { name: 5, inputSchema: schema },
    { name: "x".repeat(300), inputSchema: schema },
    { name: "no_schema" },
    { name: "text_schema", inputSchema: "object" },
    { name: "list_schema", inputSchema: { type: "array" } },
    { name: "good", inputSchema: schema, title: 5, description: {}, annotations: [], _meta: 1 },
    { name: "good", inputSchema: schema },
  ]);
  assertEquals(names, ["mcp__mock__good"]);
  assertEquals(warnings.map((warning) => warning.replace('The MCP server "mock" ', "")), [
    "lists a tool without a valid name",
    'lists the tool "no_schema", which is left out: its schema is not an object',
    'lists the tool "text_schema", which is left out: its schema is not an object',
    'lists the tool "list_schema", which is left out: its schema is not for objects',
    'lists the tool "good" twice',
  ]);
});

Deno.test("hostile names: characters, lengths and duplicates give different names that providers accept [8.2]", async () => {
  const schema = { type: "object" };
  const serverNames = [
    "a/b",
    "a_b",
    "a.b",
    "é",
    "工具",
    "👩‍💻",
    "x".repeat(200),
    "x".repeat(201),
    "__proto__",
    "constructor",
    " ",
    "\u202e",
    "\ud800",
  ];
  const { names } = await listTools(
    serverNames.map((name) => ({ name, inputSchema: schema })),
  );
  assertEquals(new Set(names).size, serverNames.length);
  for (const name of names) assert(/^[a-zA-Z0-9_-]{1,64}$/.test(name), name);
});

Deno.test("hostile schemas: too large or too deep ones are left out [8.12]", async () => {
  const large = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`property_${index}`, { type: "string" }]),
    ),
  };
  const { names, warnings } = await listTools([
    { name: "large", inputSchema: large },
    { name: "text", inputSchema: { type: "object", description: "x".repeat(1_000_000) } },
    { name: "fine", inputSchema: nest(20) },
  ]);
  assertEquals(names, ["mcp__mock__fine"]);
  assertEquals(warnings.length, 2);
});

Deno.test("hostile schemas: one that is nested too deep hides neither the server nor its other tools", async () => {
  const fine = { name: "fine", inputSchema: nest(30) };
  for (const depth of [50, 200, 1_500]) {
    const deep = { name: "deep", inputSchema: nest(depth), _meta: { data: nest(depth) } };
    const unusedOutput = { ...fine, name: "output", outputSchema: nest(depth) };
    const { names, warnings } = await listTools([deep, fine, unusedOutput]);
    assertEquals(names, ["mcp__mock__fine", "mcp__mock__output"]);
    assertEquals(warnings, [
      'The MCP server "mock" lists the tool "deep", which is left out: its schema is nested more than 80 levels deep',
    ]);
  }
});

Deno.test("hostile schemas: $async, references to other documents, cycles and slow patterns are made safe [8.12]", async () => {
  const requested: unknown[] = [];
  const slow = { type: "string", pattern: "^(a+)+$" };
  const tools = [
    { name: "async", inputSchema: { $async: true, type: "object", properties: { a: slow } } },
    {
      name: "remote",
      inputSchema: {
        type: "object",
        properties: {
          a: { $ref: "http://127.0.0.1:1/schema.json" },
          b: { $ref: "file:///etc/passwd" },
        },
      },
    },
    {
      name: "cycle",
      inputSchema: {
        type: "object",
        properties: { a: { $ref: "#/$defs/x" } },
        $defs: { x: { $ref: "#/$defs/x" } },
      },
    },
    { name: "recursive", inputSchema: { type: "object", properties: { child: { $ref: "#" } } } },
    { name: "prototype", inputSchema: { type: "object", properties: { ["__proto__"]: slow } } },
  ];
  const fetch = globalThis.fetch;
  globalThis.fetch = (input) => {
    requested.push(input);
    return Promise.reject(new Error("no network"));
  };
  const warnings: string[] = [];
  try {
    await using mcp = await connectMock(new MockServer({ tools }), {
      onWarning: ({ message }) => warnings.push(message),
    });
    assertEquals(mcp.servers[0]?.tools.length, tools.length);
    for (const { parameters } of mcp.tools) {
      const validate = await compileSchema(parameters);
      const getThreadTime = startThreadTimer();
      validate({ a: "a".repeat(50_000) + "!" });
      assert(getThreadTime() < 2_000);
      assertEquals(JSON.stringify(parameters).includes("passwd"), false);
    }
  } finally {
    globalThis.fetch = fetch;
  }
  assertEquals(requested, []);
  assertEquals(warnings.length, 2);
  assertStringIncludes(
    warnings[0] ?? "",
    '"async", whose schema is used without its invalid parts: /$async',
  );
  assertStringIncludes(
    warnings[1] ?? "",
    '"remote", whose schema is used without its invalid parts: /properties/a/$ref refers to another document',
  );
});
