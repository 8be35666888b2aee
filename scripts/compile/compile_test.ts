import { assertEquals } from "@std/assert";
import { root, runDeno } from "../../tests/project.ts";
import { choosePackages } from "../packages.ts";
import { createCompileArgs, getOutput, TARGETS } from "./compile.ts";
import { findLateImports, NOT_EMBEDDED } from "./late_imports.ts";

const { modules, packages } = await findLateImports("cli/main.ts");

Deno.test("findLateImports(): finds late modules, those of workers, and the modules that they import late", () => {
  const expected = [
    "cli/program.ts", // by cli/main.ts
    "cli/conversation/converse.ts", // by importLate()
    "cli/conversation/approval/ask_approval.ts", // by a late module
    "src/tools/documents/pdf_worker.ts", // a worker
  ];
  assertEquals(expected.filter((path) => !modules.includes(path)), []);
  const exceptions = Object.keys(NOT_EMBEDDED);
  assertEquals(modules.filter((path) => exceptions.includes(path)), []);
});

Deno.test("findLateImports(): finds the packages of computed specifiers that the program reaches", () => {
  const names = packages.map((specifier) => specifier.replace(/^npm:(.+)@.*$/, "$1"));
  assertEquals(
    [
      "@agentclientprotocol/sdk",
      "@modelcontextprotocol/client",
      "@smithy/eventstream-codec",
      "aws4fetch",
      "unpdf",
      "yaml",
    ].filter((name) => !names.includes(name)),
    [],
  );
  assertEquals(names.includes("pg"), false, "a package that only the library uses");
});

Deno.test("findLateImports(): what is embedded resolves, with all of its imports", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_graph_" });
  const file = `${directory}/graph.ts`;
  const specifiers = [...modules.map((path) => new URL(path, root).href), ...packages];
  await Deno.writeTextFile(file, specifiers.map((name) => `import "${name}";\n`).join(""));
  const { config } = await choosePackages();
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "-c", config, file],
    stderr: "null",
  }).output();
  await Deno.remove(directory, { recursive: true });
  const graph: { modules: { specifier: string; error?: string }[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  assertEquals(graph.modules.filter(({ error }) => error !== undefined), []);
  // Texts of the demo and the example of an evaluation are part of the modules that import them.
  const embedded = graph.modules.filter(({ specifier }) => specifier.endsWith(".txt"));
  assertEquals(embedded.length >= 5, true, embedded.map(({ specifier }) => specifier).join("\n"));
});

Deno.test("createCompileArgs(): includes everything, and writes a file for each target", async () => {
  const args = await createCompileArgs({ config: "deno.json", target: TARGETS[4] });
  assertEquals(args.slice(0, 5), [
    "compile",
    "--allow-all",
    "--exclude-unused-npm",
    "--config",
    "deno.json",
  ]);
  const included = args.flatMap((arg, index) => args[index - 1] === "--include" ? [arg] : []);
  assertEquals(included, [...modules, ...packages]);
  assertEquals(args.slice(-5), [
    "--target",
    "x86_64-pc-windows-msvc",
    "--output",
    "dist/swink-x86_64-pc-windows-msvc.exe",
    "cli/main.ts",
  ]);
  assertEquals(getOutput(), "dist/swink");
});

Deno.test("compile: deno.json has a task for each target", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const commands = Object.entries(tasks).flatMap(([name, task]) =>
    name.startsWith("compile:") ? [(task as { command: string }).command] : []
  );
  assertEquals(commands, TARGETS.map((target) => `deno task compile --target ${target}`));
});

Deno.test({
  name: "compile: the program is its own helper for the sandbox, as the module is from source",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const flags = ["--quiet", "--allow-all"];
    const program = await runDeno("run", [
      ...flags,
      "cli/main.ts",
      "--swink-confined-exec",
      "--probe",
    ]);
    const module = "src/tools/confinement/confined_exec.ts";
    assertEquals(program, await runDeno("run", [...flags, module, "--probe"]));
    assertEquals(program.success, true, program.text);
  },
});
