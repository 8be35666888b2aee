import { assertEquals } from "@std/assert";
import { addProgramFiles, formatProgramFiles } from "./program_files.ts";

Deno.test("formatProgramFiles(): refers to the files of the bundle and to the sources of its workers", () => {
  const bundle = new Map([
    ["program.js", 'start(new URL("../../src/worker.ts", import.meta.url));'],
    ["chunk-A.js", 'start(new URL("../../src/worker.ts", import.meta.url));'],
    ["LICENSES.txt", ""],
  ]);
  assertEquals(
    formatProgramFiles(bundle),
    `/** All files of the program. */
export type ProgramFiles = [
  typeof import("../../src/worker.ts"),
  typeof import("./chunk-A.js"),
  typeof import("./program.js"),
];
`,
  );
});

Deno.test("addProgramFiles(): refers to the type, which is in the directory of the bundle", () => {
  assertEquals(
    addProgramFiles("run();\n"),
    `run();

/** Has \`deno install\` download the whole program. */
type ProgramFiles = import("./bundle/files.ts").ProgramFiles;
`,
  );
});
