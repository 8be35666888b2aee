/**
 * A download from a hub on this machine.
 *
 * @module
 */

import { assertRejects } from "@std/assert";
import { AgentError } from "../../mod.ts";
import { ModelStore, type PullOptions } from "../../src/local/mod.ts";
import { type HubServer, startHub } from "./hub_server.ts";

/** Name of the model. */
export const NAME = "hf:owner/repo/model.gguf@main";
/** Content of the model. */
export const CONTENT: Uint8Array<ArrayBuffer> = crypto.getRandomValues(new Uint8Array(50_000));

/** A download into a temporary directory. */
export interface Download extends AsyncDisposable {
  readonly hub: HubServer;
  readonly store: ModelStore;
  readonly path: string;
  readonly part: string;
  /** Waits before attempts, in milliseconds. */
  readonly waits: number[];
  run(options?: PullOptions): Promise<void>;
  /** Runs a download that must fail. */
  fail(options?: PullOptions): Promise<AgentError>;
}

/** Creates a download from a hub with this content. */
export async function createDownload(
  env: Readonly<Record<string, string>> = {},
  limits: { readonly idleTimeoutMs?: number } = {},
  content = CONTENT,
): Promise<Download> {
  const hub = await startHub(content);
  const directory = await Deno.makeTempDir();
  const variables: Record<string, string> = { HF_ENDPOINT: hub.endpoint, ...env };
  const waits: number[] = [];
  const sleep = (milliseconds: number) => {
    waits.push(milliseconds);
    return Promise.resolve();
  };
  const store = new ModelStore({ directory, env: (name) => variables[name], sleep, ...limits });
  const { path } = await store.find(NAME);
  const run = async (options?: PullOptions) =>
    await store.download(await store.find(NAME), options);
  return {
    hub,
    store,
    path,
    part: `${path}.part`,
    waits,
    run,
    fail: async (options) => await assertRejects(() => run(options), AgentError),
    async [Symbol.asyncDispose]() {
      await hub[Symbol.asyncDispose]();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** Whether a file exists. */
export async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
