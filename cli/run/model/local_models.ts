/**
 * The provider `local`, whose code is loaded for its first request.
 *
 * @module
 */

import type { StreamFn } from "../../../mod.ts";
import { lazyStreamFn } from "../../../src/core/streams/lazy_stream_fn.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";

/** Name of the provider whose models run in this process. */
export const LOCAL_PROVIDER = "local";

/** The provider of an environment; hosts of the same program may differ in their terminal and `fetch`. */
const providersOfEnvironments = new WeakMap<Host["env"], StreamFn>();

/**
 * Adds the provider to those of `connect()`, unless a server has its name. All runs of a program share it, since each one
 * would load its model again otherwise, such as each case of an evaluation and each session of a server.
 */
export function withLocalProvider<Provider>(
  providers: Readonly<Record<string, Provider>>,
  host: Pick<Host, "env" | "fetch">,
): Readonly<Record<string, Provider | StreamFn>> {
  const provider = providersOfEnvironments.get(host.env) ?? createLateLocalProvider(host);
  providersOfEnvironments.set(host.env, provider);
  return { [LOCAL_PROVIDER]: provider, ...providers };
}

function createLateLocalProvider(host: Pick<Host, "env" | "fetch">): StreamFn {
  let loaded: StreamFn | undefined;
  const streamFn = lazyStreamFn(async () => {
    const { createLocalProvider } = await importLate<
      typeof import("../../models/local_provider.ts")
    >(
      "../../models/local_provider.ts",
      import.meta.url,
    );
    return loaded = createLocalProvider(host);
  });
  return Object.assign(streamFn, {
    hasStrictSchema: () => true,
    contextWindow: (model: Parameters<NonNullable<StreamFn["contextWindow"]>>[0]) =>
      loaded?.contextWindow?.(model),
  });
}
