export declare class DelimiterStream extends TransformStream<Uint8Array, Uint8Array> {
  constructor(delimiter: Uint8Array);
}
