// SPDX-License-Identifier: Apache-2.0
/* shop.js - one visit: choose a layout by the public weights, see how far the visitor reads, send a randomised report. */
import { Device } from './device/device.js';

const STUDY = { name: 'layouts', eps: 1, range: [0, 1] }; // what this page gives; a study that asks for more gets nothing
const BUDGET = 5; // of one browser, for this study: five visits
const collector = document.querySelector('meta[name=collector]').content;
const main = document.querySelector('main'), notice = document.querySelector('#notice');

function show(layout) {
  main.dataset.layout = layout;
  for (let i = 1; i <= 24; i++) {
    const article = document.createElement('article');
    article.textContent = `Product ${i}`;
    main.append(article);
  }
  main.hidden = false;
}

/** How much of the page was seen, 0 to 1: private, and never sent. */
let furthest = 0;
const look = () => {
  furthest = Math.max(furthest, Math.min(1, (scrollY + innerHeight) / document.documentElement.scrollHeight));
};

try {
  const device = await Device.open({ study: STUDY, origin: collector, budget: BUDGET });
  const round = await device.choose();
  show(round.index);
  look();
  addEventListener('scroll', look);
  if (!device.persisted) {
    notice.textContent = 'Your browser may forget what this page has told of you, and count it anew.';
  }
  document.querySelector('#leave').onclick = async () => {
    const { report } = await device.send(round, furthest);
    const { count, eps, budget } = await device.status();
    notice.textContent = `Sent ${report.toFixed(3)}, which may come from any visit. `
      + `This browser has spent ${count * eps} of ${budget}.`;
  };
} catch (error) {
  show(0); // the shop works without the study
  notice.textContent = error.code === 'BUDGET' || error.code === 'STATE' ? 'No study today.' : `No study: ${error.message}.`;
}
