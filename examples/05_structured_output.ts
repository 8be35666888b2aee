// Asks for output that matches a JSON Schema; invalid output is returned to the model with the errors.

import { Agent } from "@swink/agent";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const agent = new Agent({
  model: "example/scripted",
  streamFn: scriptedStream([
    reply([toolCall("structured_output", { title: "Dune", year: "1965" })]),
    reply([toolCall("structured_output", { title: "Dune", year: 1965 })]),
  ]),
});

// The type of `book` is inferred from the schema: { title: string, year: number, tags?: string[] }.
const book = await agent.structuredOutput("Which book is this about?", {
  type: "object",
  properties: {
    title: { type: "string" },
    year: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["title", "year"],
});

console.log(`${book.title}, ${book.year + 1}`);

// Prints:
// Dune, 1966
