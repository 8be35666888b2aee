import { assertEquals } from "@std/assert";
import { createInputSchema } from "../../cli/stream_json/input_schema.ts";
import { ajvValidator } from "../../mod.ts";
import { createOutputSchema } from "../../scripts/stream_output_schema.ts";

const DIRECTORY = new URL("../../cli/schemas/", import.meta.url);

Deno.test("schemas of stream-json: the published files are current", async () => {
  const schemas = { stream_input: createInputSchema(), stream_output: createOutputSchema() };
  for (const [name, schema] of Object.entries(schemas)) {
    const file = new URL(`${name}.schema.json`, DIRECTORY);
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    if (Deno.args.includes("--update")) await Deno.writeTextFile(file, text);
    assertEquals(JSON.parse(await Deno.readTextFile(file)), JSON.parse(text), name);
  }
});

Deno.test("schemas of stream-json: a reader accepts members of later versions, a closed schema does not", async () => {
  const line = { type: "turn_start", turn: 1, seq: 2, later: true };
  const open = await ajvValidator(createOutputSchema());
  const closed = await ajvValidator(createOutputSchema({ isClosed: true }));
  assertEquals([open(line).length > 0, closed(line).length > 0], [false, true]);
});
