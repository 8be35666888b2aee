/**
 * Finds the route of a path.
 *
 * @module
 */

/** A method and a path in which `{name}` matches one segment. */
export interface RoutePattern {
  /** The HTTP method. */
  readonly method: string;
  /** The path, such as `/v1/sessions/{id}`. */
  readonly path: string;
}

/** Result of {@linkcode matchRoute}. */
export type RouteMatch<Route extends RoutePattern> =
  | {
    readonly type: "matched";
    readonly route: Route;
    /** The decoded segments, by their names. */
    readonly parameters: Readonly<Record<string, string>>;
  }
  | { readonly type: "other_method"; readonly methods: readonly string[] }
  | { readonly type: "unknown" };

/** Maximum length of a path that is matched. */
const MAX_PATH_LENGTH = 2_000;

/** Finds the route for a method and the path of a URL, whose segments are percent-encoded. */
export function matchRoute<Route extends RoutePattern>(
  routes: readonly Route[],
  method: string,
  path: string,
): RouteMatch<Route> {
  const segments = path.length > MAX_PATH_LENGTH ? undefined : decodeSegments(path);
  if (!segments) return { type: "unknown" };
  const methods: string[] = [];
  for (const route of routes) {
    const parameters = matchSegments(route.path.split("/"), segments);
    if (!parameters) continue;
    if (route.method === method) return { type: "matched", route, parameters };
    methods.push(route.method);
  }
  return methods.length > 0 ? { type: "other_method", methods } : { type: "unknown" };
}

/** Decodes the segments of a path; `undefined` if one is malformed or has a character that no route has. */
function decodeSegments(path: string): readonly string[] | undefined {
  try {
    const segments = path.split("/").map(decodeURIComponent);
    // deno-lint-ignore no-control-regex -- an encoded control character must not reach a store or a log
    return segments.some((segment) => /[\x00-\x1f\x7f/\\]/.test(segment)) ? undefined : segments;
  } catch {
    return undefined;
  }
}

function matchSegments(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? "";
    const [, name] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (name === undefined ? part !== segment : segment === "") return undefined;
    if (name !== undefined) parameters[name] = segment;
  }
  return parameters;
}
