export declare function toText(
  stream: ReadableStream<string> | ReadableStream<Uint8Array>,
): Promise<string>;
