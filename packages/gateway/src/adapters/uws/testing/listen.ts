import { listenOn } from '../../serve/testing/dial.ts';
import { serve } from '../serve.ts';

/** Serves on uWebSockets.js for the duration of the running test. */
export const listen = listenOn(serve);
