/** A file in a `multipart/form-data` body that is being received. */
export interface UploadedFile {
  /** Name of the form field. */
  readonly field: string;
  /** File name from the client. Untrusted: do not use it as a path. */
  readonly name: string;
  /** Media type from the client. Untrusted. */
  readonly type: string;
  /**
   * Returns the content, which is received while it is read. Read it before you request the next file: unread content
   * is dropped then. The stream fails if the client disconnects or a limit is exceeded.
   */
  readonly stream: () => ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** An uploaded file that is stored outside of memory. */
export interface SpooledFile {
  readonly file: File;
  /** Deletes the stored file. The gateway calls it once, when the call has ended. */
  remove(): Promise<void>;
}

/** Stores an uploaded file outside of memory while it is received. If it fails, it must delete what it has stored. */
export type Spool = (file: UploadedFile) => Promise<SpooledFile>;
