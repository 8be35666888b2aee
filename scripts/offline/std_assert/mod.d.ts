type ErrorConstructor<E> = abstract new (...args: never[]) => E;

export declare class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

export declare function equal(a: unknown, b: unknown): boolean;
export declare function assert(expression: unknown, message?: string): asserts expression;
export declare function assertFalse(
  expression: unknown,
  message?: string,
): asserts expression is false;
export declare function assertEquals<T>(actual: T, expected: T, message?: string): void;
export declare function assertNotEquals<T>(actual: T, expected: T, message?: string): void;
export declare function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T;
export declare function assertNotStrictEquals<T>(actual: T, expected: T, message?: string): void;
export declare function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance?: number,
  message?: string,
): void;
export declare function assertGreater<T>(actual: T, expected: T, message?: string): void;
export declare function assertGreaterOrEqual<T>(actual: T, expected: T, message?: string): void;
export declare function assertLess<T>(actual: T, expected: T, message?: string): void;
export declare function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void;
export declare function assertExists<T>(
  actual: T,
  message?: string,
): asserts actual is NonNullable<T>;
export declare function assertInstanceOf<T extends abstract new (...args: never[]) => unknown>(
  actual: unknown,
  expectedType: T,
  message?: string,
): asserts actual is InstanceType<T>;
export declare function assertNotInstanceOf<A, T>(
  actual: A,
  unexpectedType: abstract new (...args: never[]) => T,
  message?: string,
): asserts actual is Exclude<A, T>;
export declare function assertArrayIncludes<T>(
  actual: ArrayLike<T> & Iterable<T>,
  expected: ArrayLike<T> & Iterable<T>,
  message?: string,
): void;
export declare function assertObjectMatch(
  actual: object,
  expected: Record<PropertyKey, unknown>,
  message?: string,
): void;
export declare function assertMatch(actual: string, expected: RegExp, message?: string): void;
export declare function assertNotMatch(actual: string, expected: RegExp, message?: string): void;
export declare function assertStringIncludes(
  actual: string,
  expected: string,
  message?: string,
): void;
export declare function assertIsError<E extends Error = Error>(
  error: unknown,
  errorClass?: ErrorConstructor<E>,
  messageMatches?: string | RegExp,
  message?: string,
): asserts error is E;
export declare function assertThrows(fn: () => unknown, message?: string): unknown;
export declare function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  errorClass: ErrorConstructor<E>,
  messageIncludes?: string,
  message?: string,
): E;
export declare function assertRejects(
  fn: () => PromiseLike<unknown>,
  message?: string,
): Promise<unknown>;
export declare function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  errorClass: ErrorConstructor<E>,
  messageIncludes?: string,
  message?: string,
): Promise<E>;
export declare function fail(message?: string): never;
export declare function unimplemented(message?: string): never;
export declare function unreachable(message?: string): never;
