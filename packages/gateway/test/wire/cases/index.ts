import type { RawCase } from '../rawCase.ts';
import { chunkCases } from './chunks.ts';
import { connectionCases } from './connection.ts';
import { contentLengthCases } from './contentLength.ts';
import { headerCases } from './headers.ts';
import { hostCases } from './host.ts';
import { limitCases } from './limits.ts';
import { requestLineCases } from './requestLine.ts';
import { transferEncodingCases } from './transferEncoding.ts';

/** All cases, by the part of a request that they test. */
export const rawCaseGroups: Readonly<Record<string, readonly RawCase[]>> = {
  'request line': requestLineCases,
  Host: hostCases,
  'Content-Length': contentLengthCases,
  'Transfer-Encoding': transferEncodingCases,
  chunks: chunkCases,
  headers: headerCases,
  connection: connectionCases,
  limits: limitCases,
};
