import { assert, assertEquals } from "@std/assert";
import { root } from "../project.ts";

/** What the type of one tool may cost the checker, in instantiations; with five fields, nested ones among them. */
const MAX_INSTANTIATIONS_PER_TOOL = 1_500;
const TOOLS = 100;
/** The TypeScript that is inside Deno tells no counts. */
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

async function countInstantiations(folder: string, tools: number): Promise<number> {
  const core = new URL("src/core/tool.ts", root).pathname;
  const sources = Array.from({ length: tools }, (_, index) => createToolSource(index));
  const name = `tools_${tools}.ts`;
  await Deno.writeTextFile(
    `${folder}/${name}`,
    [`import { defineTool } from "${core}";`, ...sources].join("\n"),
  );
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-config", "--no-lock", COMPILER, "--noEmit", "--extendedDiagnostics"],
      ...["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"],
      ...["--allowImportingTsExtensions", "--module", "esnext", "--moduleResolution", "bundler"],
      ...["--target", "esnext", "--skipLibCheck", name],
    ],
    cwd: folder,
  }).output();
  const report = new TextDecoder().decode(stdout);
  const faults = report.split("\n").filter((line) => line.startsWith(name));
  assertEquals(faults, []);
  const [, count] = report.match(/Instantiations:\s+(\d+)/) ?? [];
  assert(count !== undefined, report);
  return Number(count);
}

Deno.test("a tool costs the type checker no more than its budget", async () => {
  const folder = await Deno.makeTempDir({ prefix: "swink_types_" });
  try {
    const one = await countInstantiations(folder, 1);
    const many = await countInstantiations(folder, TOOLS);
    const each = Math.round((many - one) / (TOOLS - 1));
    console.log(`${each} instantiations for each tool`);
    assert(each <= MAX_INSTANTIATIONS_PER_TOOL, `${each} instantiations for each tool`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
