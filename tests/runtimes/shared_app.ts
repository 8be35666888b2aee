/**
 * The npm package, built and installed once for the tests of an isolate.
 *
 * @module
 */

import { buildPackageIfChanged } from "../../scripts/npm/build.ts";
import { createTestApp, type TestApp } from "./runtimes.ts";

let build: Promise<void> | undefined;

/** Builds the package, unless an earlier test has built it. */
export async function buildPackageOnce(): Promise<void> {
  await (build ??= buildPackageIfChanged());
}

/** Returns a function that creates an app with the package on its first call. The app is removed when the tests end. */
export function shareTestApp(
  prepare?: (app: TestApp) => Promise<void>,
): () => Promise<TestApp> {
  let shared: Promise<TestApp> | undefined;
  return () => shared ??= createSharedApp(prepare);
}

/** The app of tests that write only files with names of their own. */
export const getSharedApp: () => Promise<TestApp> = shareTestApp();

async function createSharedApp(prepare?: (app: TestApp) => Promise<void>): Promise<TestApp> {
  await buildPackageOnce();
  const app = await createTestApp();
  globalThis.addEventListener("unload", () => Deno.removeSync(app.path, { recursive: true }));
  await prepare?.(app);
  return app;
}
