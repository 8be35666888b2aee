/**
 * The used part of the SDK of Restate, which is loaded when the engine starts.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { importNpmPackage } from "../../core/ports/npm_package.ts";

/** The npm package and its version range, equal to that in deno.json. */
export const RESTATE_PACKAGE = { name: "@restatedev/restate-sdk", range: "^1.17.2" } as const;

/** A promise of the journal. Only its combinators may await several of them. */
export interface RestatePromise<Value> extends Promise<Value> {
  map<Mapped>(mapper: (value?: Value, failure?: Error) => Mapped): RestatePromise<Mapped>;
}

/** Context of a handler. */
export interface RestateContext {
  readonly key: string;
  run<Value>(name: string, action: () => Promise<Value>): RestatePromise<Value>;
  sleep(milliseconds: number): RestatePromise<void>;
  promise<Value>(name: string): {
    get(): RestatePromise<Value>;
    resolve(value: Value): Promise<void>;
  };
  get<Value>(name: string): Promise<Value | null>;
  set<Value>(name: string, value: Value): void;
  clearAll(): void;
  genericSend(call: {
    readonly service: string;
    readonly method: string;
    readonly key: string;
    readonly parameter: unknown;
    readonly inputSerde: unknown;
  }): unknown;
  request(): { readonly attemptCompletedSignal: AbortSignal };
}

/** A handler. */
export type RestateHandler = (context: RestateContext, input: never) => Promise<unknown>;

/** The used part of `@restatedev/restate-sdk/fetch`. */
export interface RestatePackage {
  readonly RestatePromise: {
    race<Value>(promises: readonly RestatePromise<Value>[]): RestatePromise<Value>;
  };
  /** The error that ends an invocation, such as by its cancellation. */
  readonly TerminalError: abstract new (...args: never[]) => Error;
  readonly serde: { readonly json: unknown };
  readonly handlers: {
    readonly workflow: { shared(handler: RestateHandler): unknown };
    readonly object: { shared(handler: RestateHandler): unknown };
  };
  workflow(definition: {
    readonly name: string;
    readonly handlers: Readonly<Record<string, unknown>>;
    readonly options: { readonly inactivityTimeout: number; readonly abortTimeout: number };
  }): unknown;
  object(definition: {
    readonly name: string;
    readonly handlers: Readonly<Record<string, unknown>>;
  }): unknown;
  createEndpointHandler(options: {
    readonly services: readonly unknown[];
    readonly bidirectional: boolean;
    readonly identityKeys?: readonly string[];
    readonly logger: () => void;
  }): (request: Request) => Promise<Response>;
}

/** Loads the SDK. */
export async function loadRestate(): Promise<RestatePackage> {
  try {
    return await importNpmPackage({ ...RESTATE_PACKAGE, path: "/fetch" });
  } catch (cause) {
    throw new BadRequestError(
      `Cannot load the npm package ${RESTATE_PACKAGE.name}, which RestateEngine needs: install it`,
      { cause },
    );
  }
}
