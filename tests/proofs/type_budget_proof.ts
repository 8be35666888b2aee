import { assert, assertEquals } from "@std/assert";
import { root } from "../project.ts";

/** Maximum type instantiations for one tool with five parameters, some of them nested. */
const MAX_INSTANTIATIONS_PER_TOOL = 1_500;
const TOOLS = 100;
/** Deno's own TypeScript does not report counts. */
const COMPILER = "npm:typescript@5.9.3/tsc";

function createToolSource(index: number): string {
  return `
export const tool${index} = defineTool({
  name: "tool${index}",
  description: "Edits a file.",
  parameters: {
    type: "object",
    properties: {
      path${index}: { type: "string", minLength: 1 },
      lines: { type: "array", items: { type: "integer" } },
      mode: { enum: ["mode${index}", "other"] },
      edit: {
        type: "object",
        properties: { from: { type: "string" }, to: { type: ["string", "null"] } },
        required: ["from"],
      },
      shape: {
        anyOf: [
          { type: "object", properties: { kind: { const: "circle" }, radius: { type: "number" } }, required: ["kind"] },
          { type: "object", properties: { kind: { const: "point" } }, required: ["kind"] },
        ],
      },
    },
    required: ["path${index}", "lines"],
  },
  execute: ({ path${index}, lines, edit }) => path${index} + lines.length + (edit?.to ?? ""),
});`;
}

async function countInstantiations(directory: string, tools: number): Promise<number> {
  const core = new URL("src/core/tools/tool.ts", root).pathname;
  const sources = Array.from({ length: tools }, (_, index) => createToolSource(index));
  const name = `tools_${tools}.ts`;
  await Deno.writeTextFile(
    `${directory}/${name}`,
    [`import { defineTool } from "${core}";`, ...sources].join("\n"),
  );
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-config", "--no-lock", COMPILER, "--noEmit", "--extendedDiagnostics"],
      ...["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"],
      ...["--allowImportingTsExtensions", "--module", "esnext", "--moduleResolution", "bundler"],
      ...["--target", "esnext", "--skipLibCheck", name],
    ],
    cwd: directory,
  }).output();
  const report = new TextDecoder().decode(stdout);
  const errors = report.split("\n").filter((line) => line.startsWith(name));
  assertEquals(errors, []);
  const [, count] = report.match(/Instantiations:\s+(\d+)/) ?? [];
  assert(count !== undefined, report);
  return Number(count);
}

Deno.test("types: a tool takes at most 1,500 type instantiations", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_types_" });
  try {
    const single = await countInstantiations(directory, 1);
    const many = await countInstantiations(directory, TOOLS);
    const perTool = Math.round((many - single) / (TOOLS - 1));
    const summary = `${perTool} instantiations per tool`;
    console.log(summary);
    assert(perTool <= MAX_INSTANTIATIONS_PER_TOOL, summary);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
