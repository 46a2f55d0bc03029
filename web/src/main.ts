/* SPDX-License-Identifier: Apache-2.0 */
// main.ts - which page this is.
import { board } from "./board";
import { desk } from "./desk";

void (document.body.dataset.page === "desk" ? desk() : board());
