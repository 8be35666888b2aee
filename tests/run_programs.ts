/**
 * Runs programs of the project one after the other, with a line before the output of each that names it.
 *
 * Usage: `deno run -A tests/run_programs.ts PATH...`
 *
 * @module
 */

for (const path of Deno.args) {
  console.log(`=== Output of ${path}`);
  // The others run also if one fails.
  await import(import.meta.resolve(`../${path}`)).catch((error) => console.log("Failed:", error));
}
